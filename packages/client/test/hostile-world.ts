// A client connected to a hostile relay, and the message frames of that relay.
import { type ClientOptions, MemoryStore } from '../src/client.ts'
import { friendOf, HostileRelay, type Peer } from './hostile-relay.ts'
import { Person, until } from './people.ts'

export class HostileWorld {
  readonly relay = new HostileRelay()
  readonly #people: Person[] = []

  async open(store = new MemoryStore(), options: Partial<ClientOptions> = {}): Promise<Person> {
    const person = await Person.open('victim', this.relay.url, { ...options, store })
    this.#people.push(person)
    return person
  }

  /** A new client, connected to the relay, with these peers as its friends. */
  async victim(peers: readonly Peer[], store = new MemoryStore()): Promise<Person> {
    const person = await this.open(store)
    this.relay.friends = peers.map((peer) => friendOf(peer))
    await person.client.create({ nickname: 'victim' })
    await person.connect()
    await until(
      'the victim has a session with each peer',
      async () => (await person.client.conversations()).length === peers.length,
    )
    return person
  }

  /** Waits until the client has processed all earlier frames. */
  async settled(person: Person): Promise<void> {
    const before = person.heard.synced.length
    this.relay.send({ type: 'sync_end', count: 0 })
    await until('the victim has processed all frames', () => person.heard.synced.length > before)
    await Bun.sleep(5)
  }

  async stop(): Promise<void> {
    for (const person of this.#people.splice(0)) await person.client.close()
    await this.relay.stop()
  }
}

function publicKeyOf(person: Person): string {
  return person.client.identity?.ecdhPublicKey ?? ''
}

export function msg(
  peer: Peer,
  person: Person,
  seq: number,
  text: string,
  fields: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    type: 'msg',
    id: idOf(text),
    to: person.alias,
    conv_id: peer.conversationId,
    crypto_v: 1,
    from: peer.aliasId,
    seq,
    at: 1000 + seq,
    payload: peer.payloadTo(publicKeyOf(person), text),
    ...fields,
  }
}

export function idOf(text: string): string {
  return `id-${encodeURIComponent(text)}`
}

export async function textsOf(person: Person, peer: Peer): Promise<string[]> {
  return (await person.client.messages(peer.conversationId)).map(({ text }) => text)
}
