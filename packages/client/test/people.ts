// People for tests: each a real client with a store of its own, whose events can be waited for.
import {
  type ClientEventName,
  type ClientEvents,
  type ClientOptions,
  type ClientStore,
  MemoryStore,
  SottoClient,
  type StoredMessage,
} from '../src/client.ts'

/** How long a test waits for what should happen at once. On a busy machine that takes a while. */
const PATIENCE_MS = 20_000

/** Resolves with what `look` finds; fails with `what` if it finds nothing in time. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = PATIENCE_MS,
): Promise<T> {
  const late = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > late) throw new Error(`not in time: ${what}`)
    await Bun.sleep(5)
  }
}

/** A client, and what it has heard. */
export class Person {
  readonly name: string
  readonly store: ClientStore
  readonly client: SottoClient
  readonly heard: { [N in ClientEventName]: ClientEvents[N][] } = {
    message: [],
    status_change: [],
    retracted: [],
    network_state: [],
    lock_state: [],
    identity_changed: [],
    synced: [],
    channel_post: [],
    typing: [],
    goaway: [],
    payment_confirmed: [],
    security_violation: [],
    friend_request: [],
    friend_accepted: [],
    error: [],
  }

  private constructor(name: string, store: ClientStore, client: SottoClient) {
    this.name = name
    this.store = store
    this.client = client
    // `heard` has the names of all events, and nothing else.
    for (const event of Object.keys(this.heard) as ClientEventName[]) this.#hear(event)
  }

  static async open(name: string, relayUrl: string, options: Partial<ClientOptions> = {}): Promise<Person> {
    const store = options.store ?? new MemoryStore()
    return new Person(name, store, await SottoClient.open({ relayUrl, ...options, store }))
  }

  /** Registers and connects. */
  static async join(name: string, relayUrl: string, options: Partial<ClientOptions> = {}): Promise<Person> {
    const person = await Person.open(name, relayUrl, options)
    await person.client.create({ nickname: name })
    await person.connect()
    return person
  }

  get alias(): string {
    return this.client.identity?.aliasId ?? ''
  }

  async connect(): Promise<void> {
    const before = this.heard.synced.length
    this.client.connect()
    await until(`${this.name} is connected`, () => this.heard.synced.length > before)
  }

  /** Befriends another, who is connected too. */
  async befriend(other: Person): Promise<string> {
    const [requests, acceptances] = [other.heard.friend_request.length, this.heard.friend_accepted.length]
    await this.client.requestFriend(other.alias)
    const request = await until(`${other.name} sees the request`, () => other.heard.friend_request[requests])
    await other.client.acceptFriend(request.friendship_id)
    await until(`${this.name} sees it accepted`, () => this.heard.friend_accepted[acceptances])
    return (await this.client.conversation(other.alias)).conversationId
  }

  /** The messages of a conversation, one line each: who, what, how far. */
  async transcript(contact: string): Promise<string[]> {
    return (await this.client.messages(contact)).map(lineOf)
  }

  /** Waits for a message's status. */
  async sees(contact: string, id: string, status: StoredMessage['status']): Promise<StoredMessage> {
    return until(`${this.name} sees ${status}`, async () =>
      (await this.client.messages(contact)).find((m) => m.id === id && m.status === status),
    )
  }

  /** Waits for a peer's message. */
  receives(text: string): Promise<StoredMessage> {
    return until(`${this.name} receives ${text}`, () =>
      this.heard.message.find((message) => message.text === text),
    )
  }

  #hear<N extends ClientEventName>(name: N): void {
    const events: ClientEvents[N][] = this.heard[name]
    this.client.on(name, (event) => events.push(event))
  }
}

function lineOf(message: StoredMessage): string {
  const text = message.retracted ? '(retracted)' : message.text
  return `${message.isMe ? 'me' : 'them'}: ${text}${message.isMe ? ` [${message.status}]` : ''}`
}
