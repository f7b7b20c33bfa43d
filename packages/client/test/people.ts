// People for tests: each has a real client with a store, and records its events.
import {
  type ClientEventName,
  type ClientEvents,
  type ClientOptions,
  type ClientStore,
  MemoryStore,
  SottoClient,
  type StoredMessage,
} from '../src/client.ts'
import { briefPauses } from './brief-pauses.ts'

/** The default limit of a wait. It is long, because a busy machine is slow. */
const PATIENCE_MS = 45_000

/**
 * Calls `look` until it returns neither undefined nor false, and resolves with the result.
 * @param what the awaited condition, for the message of the error
 * @throws if `withinMs` pass before
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = PATIENCE_MS,
): Promise<T> {
  const late = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > late) throw new Error(`this did not happen in time: ${what}`)
    await Bun.sleep(5)
  }
}

/** A client and all its events. */
export class Person {
  readonly name: string
  readonly store: ClientStore
  readonly client: SottoClient
  readonly heard: { [N in ClientEventName]: ClientEvents[N][] } = {
    changes: [],
    call_waiting: [],
    call_logged: [],
    message: [],
    status_change: [],
    retracted: [],
    edited: [],
    reacted: [],
    network_state: [],
    lock_state: [],
    identity_changed: [],
    synced: [],
    channel_post: [],
    typing: [],
    goaway: [],
    payment_confirmed: [],
    secrecy: [],
    security_violation: [],
    friend_request: [],
    friend_accepted: [],
    error: [],
  }

  private constructor(name: string, store: ClientStore, client: SottoClient) {
    this.name = name
    this.store = store
    this.client = client
    // The keys of `heard` are the names of all events.
    for (const event of Object.keys(this.heard) as ClientEventName[]) this.#hear(event)
  }

  /** Opens a client, with brief pauses unless the options have another clock. */
  static async open(name: string, relayUrl: string, options: Partial<ClientOptions> = {}): Promise<Person> {
    const store = options.store ?? new MemoryStore()
    return new Person(name, store, await SottoClient.open({ relayUrl, ...briefPauses, ...options, store }))
  }

  /** Opens, registers and connects a client. */
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

  /** Makes this person and another friends. Both are connected. Returns the id of their conversation. */
  async befriend(other: Person): Promise<string> {
    const [requests, acceptances] = [other.heard.friend_request.length, this.heard.friend_accepted.length]
    await this.client.requestFriend(other.alias)
    const request = await until(`${other.name} sees the request`, () => other.heard.friend_request[requests])
    await other.client.acceptFriend(request.friendship_id)
    await until(`${this.name} sees the request accepted`, () => this.heard.friend_accepted[acceptances])
    return (await this.client.conversation(other.alias)).conversationId
  }

  /**
   * The messages of a conversation, one line each: `them` or `me`, the text, and the status of own messages.
   */
  async transcript(contact: string): Promise<string[]> {
    return (await this.client.messages(contact)).map(lineOf)
  }

  /** Waits until the message has this status. */
  async sees(contact: string, id: string, status: StoredMessage['status']): Promise<StoredMessage> {
    return until(`${this.name} sees the message ${id} as ${status}`, async () =>
      (await this.client.messages(contact)).find((m) => m.id === id && m.status === status),
    )
  }

  /** Waits for a peer's message with this text. */
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
