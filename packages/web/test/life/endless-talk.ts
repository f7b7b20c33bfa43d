// Two people who talk without a pause while something is done to their relay.
import { expect } from 'bun:test'
import type { ClientOptions } from '@sotto/client'
import { Person } from '../../../client/test/people.ts'

/** One writes to the other, who has to receive everything, once, and in its order. */
export class EndlessTalk {
  readonly #writer: Person
  readonly #reader: Person
  readonly #sent: string[] = []
  #isOver = false
  #talking: Promise<void> | undefined

  private constructor(writer: Person, reader: Person) {
    this.#writer = writer
    this.#reader = reader
  }

  /**
   * Two new accounts begin to talk.
   * @param door the address at which a program reaches the relay that trusts no authority of the tests
   */
  static async begin(relayUrl: string, door: string): Promise<EndlessTalk> {
    const options = throughDoor(relayUrl, door)
    const join = (name: string): Promise<Person> => Person.join(name, relayUrl, options)
    const [writer, reader] = [await join('Writer'), await join('Reader')]
    await writer.befriend(reader)
    const talk = new EndlessTalk(writer, reader)
    talk.#talking = talk.#talk()
    return talk
  }

  /** How many messages have come so far. */
  get count(): number {
    return this.#sent.length
  }

  /** Ends the talk, and looks at all that has come. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#talking
    const texts = (await this.#reader.client.messages(this.#writer.alias)).map(({ text }) => text)
    expect(texts).toEqual(this.#sent)
    expect(this.#sent.length).toBeGreaterThan(0)
    for (const { client } of [this.#writer, this.#reader]) await client.close()
  }

  async #talk(): Promise<void> {
    for (let number = 1; !this.#isOver; number++) {
      const text = `message ${number}`
      await this.#writer.client.send(this.#reader.alias, text)
      await this.#reader.receives(text)
      this.#sent.push(text)
    }
  }
}

/** Options of a client whose requests and connections go to another address. */
function throughDoor(relayUrl: string, door: string): Pick<ClientOptions, 'fetch' | 'WebSocket'> {
  const { host } = new URL(relayUrl)
  const other = new URL(door).host
  const near = (url: string): string =>
    url.replace(/^(http|ws)s:\/\/([^/]+)/, (_all, scheme, to) => {
      if (to !== host) throw new Error(`${url} is not of ${host}`)
      return `${scheme}://${other}`
    })
  return {
    fetch: (url, init) => fetch(near(url), init),
    WebSocket: class extends WebSocket {
      constructor(url: string) {
        super(near(url))
      }
    },
  }
}
