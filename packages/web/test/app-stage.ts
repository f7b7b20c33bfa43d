// A relay, the built app, and people with a browser each.
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import type { Browser } from 'playwright-core'
import { startChromium, startChromiumWith } from '../../client/test/browser/chromium.ts'
import { sharedChromium } from '../../client/test/browser/shared-chromium.ts'
import { Person } from '../../client/test/people.ts'
import { AppPerson } from './app-person.ts'
import type { PersonOptions } from './browser-person.ts'
import { builtApp, type FileServer, serveFolder } from './built-app.ts'
import { recordNotices } from './told.ts'

interface WithFriends {
  readonly person: AppPerson
  readonly friends: readonly Person[]
  readonly alias: string
}

interface Started {
  readonly browser: Browser
  readonly relay: RelayProcess
  /** A host of plain files, for people whose relay does not serve the app. */
  readonly server: FileServer
}

/** A relay, the app, and people. */
export class AppStage {
  readonly #people: AppPerson[] = []
  /** Those with another program. */
  readonly #friends: Person[] = []
  /** Those of single people, beside the one for everybody else. */
  readonly #browsers: Browser[] = []
  /** By the people's names. */
  readonly #knownPhrases = new Map<string, Promise<readonly string[]>>()
  readonly #defaults: PersonOptions
  #started: Started | undefined

  /** @param defaults what holds for each person who has no other options */
  constructor(defaults: PersonOptions = {}) {
    this.#defaults = defaults
  }

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

  /** Closes the programs of all people. Returns what they complained about. */
  async part(): Promise<readonly string[]> {
    const people = this.#people.splice(0)
    for (const person of people) await person.context.close()
    for (const browser of this.#browsers.splice(0)) await browser.close()
    for (const { client } of this.#friends.splice(0)) await client.close()
    return people.flatMap((person) => person.complaints)
  }

  async stop(): Promise<void> {
    await this.#started?.server.stop()
    await this.#started?.relay.stop()
  }

  /** The relay ends as if its power failed. `relay.start()` brings it back with what it had stored. */
  async relayFails(): Promise<void> {
    for (const person of this.#people) person.expectsInterruptions()
    await this.relay.kill('SIGKILL')
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
    given: PersonOptions = {},
    relayUrl: string = this.relay.url,
  ): Promise<AppPerson> {
    const options = { ...this.#defaults, ...given }
    const { browser: shared, server } = this.#get()
    const browser = options.camera === undefined ? shared : await this.#browserSeeing(options.camera)
    const settings = AppPerson.settings(options)
    const context =
      options.profile === undefined
        ? await browser.newContext(settings)
        : await startChromiumWith(options.profile, settings)
    await recordNotices(context)
    if (!options.keepsApp) await context.addInitScript(removeServiceWorkers)
    if (options.aheadMs !== undefined) await context.addInitScript(setClock, options.aheadMs)
    const address = relayUrl === this.relay.url ? relayUrl : `${server.url}/#/?relay=${relayUrl}`
    const person = new AppPerson(name, context, address, options)
    this.#people.push(person)
    await person.comes()
    return person
  }

  /** A person with a new account, which is made as those of `friends` are. */
  async joins(name: string, options: PersonOptions = {}): Promise<AppPerson> {
    const [phrase = ''] = await this.phrasesOfFriends(name)
    return this.recovered(name, phrase, options)
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

  /** The same with accounts that are made once for all tests of a file, which takes less time. */
  async knownFriends<N extends readonly string[]>(
    ...names: N
  ): Promise<{ readonly [I in keyof N]: AppPerson }>
  async knownFriends(...names: readonly string[]): Promise<readonly AppPerson[]> {
    const phrases = await this.phrasesOfKnown(...names)
    return Promise.all(names.map((name, at) => this.recovered(name, phrases[at] ?? '')))
  }

  /** The recovery phrases of {@link knownFriends}. */
  phrasesOfKnown(...names: readonly string[]): Promise<readonly string[]> {
    const key = names.join()
    const phrases = this.#knownPhrases.get(key) ?? this.phrasesOfFriends(...names)
    this.#knownPhrases.set(key, phrases)
    return phrases
  }

  /**
   * A person with the app, a friend with another program, who is always there and can write much in little
   * time, and the alias by which the friend writes.
   */
  async withFriend(
    name: string,
    friendsName: string,
    options: PersonOptions = {},
  ): Promise<readonly [AppPerson, Person, string]> {
    const { person, friends, alias } = await this.#withFriends(name, [friendsName], options)
    const [friend] = friends
    if (!friend) throw new Error('nobody has joined')
    return [person, friend, alias]
  }

  /** The same with several friends. */
  withFriends(name: string, ...names: readonly string[]): Promise<WithFriends> {
    return this.#withFriends(name, names, {})
  }

  async #withFriends(name: string, names: readonly string[], options: PersonOptions): Promise<WithFriends> {
    const first = await Person.join(name, this.relay.url)
    const friends = await Promise.all(names.map((each) => Person.join(each, this.relay.url)))
    this.#friends.push(...friends)
    for (const friend of friends) await first.befriend(friend)
    const phrase = await first.client.recoveryPhrase()
    await first.client.close()
    return { person: await this.recovered(name, phrase, options), friends, alias: first.alias }
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

  /** What a camera sees is set for a whole browser. */
  async #browserSeeing(file: string): Promise<Browser> {
    const browser = await startChromium(`--use-file-for-fake-video-capture=${file}`)
    this.#browsers.push(browser)
    return browser
  }

  #get(): Started {
    if (!this.#started) throw new Error('nothing has started')
    return this.#started
  }
}

/** Runs in each page before its scripts. */
function removeServiceWorkers(): void {
  Reflect.deleteProperty(Navigator.prototype, 'serviceWorker')
}

/** Runs in each page before its scripts. */
function setClock(aheadMs: number): void {
  const rightNow = Date.now
  const now = (): number => rightNow() + aheadMs
  const Right = Date
  globalThis.Date = new Proxy(Right, {
    construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  })
}
