// A relay, the built app, and people with a browser each.
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import type { Browser } from 'playwright-core'
import { sharedChromium } from '../../client/test/browser/shared-chromium.ts'
import { Person } from '../../client/test/people.ts'
import { AppPerson, type PersonOptions } from './app-person.ts'
import { builtApp, type FileServer, serveFolder } from './built-app.ts'

interface Started {
  readonly browser: Browser
  readonly relay: RelayProcess
  /** A host of plain files, for people whose relay does not serve the app. */
  readonly server: FileServer
}

/** A relay, the app, and people. */
export class AppStage {
  readonly #people: AppPerson[] = []
  #started: Started | undefined

  /** @param env settings of the relay */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const folder = builtApp()
    const server = serveFolder(folder)
    const [browser, relay] = await Promise.all([
      sharedChromium(),
      startRelay({ env: { APP_DIR: folder, ...env } }),
    ])
    this.#started = { browser, relay, server }
  }

  /** Closes the browsers of all people. Returns what they complained about. */
  async part(): Promise<readonly string[]> {
    const people = this.#people.splice(0)
    for (const person of people) await person.context.close()
    return people.flatMap((person) => person.complaints)
  }

  async stop(): Promise<void> {
    await this.#started?.server.stop()
    await this.#started?.relay.stop()
  }

  get relay(): RelayProcess {
    return this.#get().relay
  }

  /**
   * A person with a new browser, who has opened the app and has no account yet.
   * @param relayUrl another relay than that of the stage
   */
  async stranger(
    name: string,
    options: PersonOptions = {},
    relayUrl: string = this.relay.url,
  ): Promise<AppPerson> {
    const { browser, server } = this.#get()
    const context = await browser.newContext(AppPerson.settings(options))
    const address = relayUrl === this.relay.url ? relayUrl : `${server.url}/#/?relay=${relayUrl}`
    const person = new AppPerson(name, context, address, options)
    this.#people.push(person)
    await person.comes()
    return person
  }

  /** A person with a new account. */
  async joins(name: string, options: PersonOptions = {}): Promise<AppPerson> {
    const person = await this.stranger(name, options)
    await person.registers()
    return person
  }

  /**
   * People who are friends of the first one. Their accounts are made outside of the app, which then recovers
   * them: that is quicker than the screens.
   */
  async friends<N extends readonly string[]>(...names: N): Promise<{ readonly [I in keyof N]: AppPerson }>
  async friends(...names: readonly string[]): Promise<readonly AppPerson[]> {
    const phrases = await this.phrasesOfFriends(...names)
    return Promise.all(names.map((name, at) => this.recovered(name, phrases[at] ?? '')))
  }

  /**
   * A person with the app, a friend with another program, who is always there and can write much in little
   * time, and the alias by which the friend writes.
   */
  async withFriend(name: string, friendsName: string): Promise<readonly [AppPerson, Person, string]> {
    const first = await Person.join(name, this.relay.url)
    const friend = await Person.join(friendsName, this.relay.url)
    await first.befriend(friend)
    const phrase = await first.client.recoveryPhrase()
    await first.client.close()
    return [await this.recovered(name, phrase), friend, first.alias]
  }

  /** The recovery phrases of new accounts. Each is a friend of the first one. */
  async phrasesOfFriends(...names: readonly string[]): Promise<readonly string[]> {
    const people = await Promise.all(names.map((name) => Person.join(name, this.relay.url)))
    const [first, ...others] = people
    for (const other of others) await first?.befriend(other)
    const phrases = await Promise.all(people.map(({ client }) => client.recoveryPhrase()))
    for (const { client } of people) await client.close()
    return phrases
  }

  /** A person with a new browser, who recovers an account in it. */
  async recovered(name: string, phrase: string, options: PersonOptions = {}): Promise<AppPerson> {
    const person = await this.stranger(name, options)
    await person.recovers(phrase)
    return person
  }

  #get(): Started {
    if (!this.#started) throw new Error('nothing has started')
    return this.#started
  }
}
