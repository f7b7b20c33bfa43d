// A relay for each test file, and people whose clients are closed after each test.
import { afterAll, afterEach, beforeAll } from 'bun:test'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { Person } from './people.ts'

type Options = Parameters<typeof Person.open>[2]

/** The relay of the test file, and the people who join it. */
export class PeopleWorld {
  readonly #people: Person[] = []
  #relay: RelayProcess | undefined

  /** @param env settings of the relay */
  constructor(env: Readonly<Record<string, string>> = {}) {
    beforeAll(async () => {
      this.#relay = await startRelay({ env })
    })
    afterAll(() => this.#relay?.stop())
    afterEach(async () => {
      for (const person of this.#people.splice(0)) await person.client.close()
    })
  }

  get relay(): RelayProcess {
    if (!this.#relay) throw new Error('the relay has not started')
    return this.#relay
  }

  async open(name: string, options: Options = {}): Promise<Person> {
    return this.#keep(await Person.open(name, this.relay.url, options))
  }

  async join(name: string, options: Options = {}): Promise<Person> {
    return this.#keep(await Person.join(name, this.relay.url, options))
  }

  /** Two new friends and the id of their conversation. The options are for the first friend's client. */
  async friends(options: Options = {}): Promise<[Person, Person, string]> {
    const [alice, bob] = [await this.join('alice', options), await this.join('bob')]
    return [alice, bob, await alice.befriend(bob)]
  }

  #keep(person: Person): Person {
    this.#people.push(person)
    return person
  }
}
