// sotto upgrade with two built versions: under load, back again, and everything that must not happen.
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { appendFile, cp, mkdtemp, readdir, rename, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { askRunning } from '@sotto/relay'
import { Person, until } from '../../client/test/people.ts'
import { engines } from '../../relay/test/engines.ts'
import { findFreePort } from '../../relay/test/free-port.ts'
import manifest from '../package.json' with { type: 'json' }
import { expectRefused } from './run-sotto.ts'
import { buildTwoVersions, type Versions } from './two-versions.ts'

setDefaultTimeout(600_000)

let versions: Versions
beforeAll(async () => {
  versions = await buildTwoVersions()
}, 600_000)
afterAll(() => rm(versions.root, { recursive: true }))

const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** How long a new version may take to be ready: long enough for a busy machine. */
const READY_SECONDS = 300

/** The installed program, its settings, and the relay that runs from it. */
class Installation {
  readonly folder: string
  readonly program: string
  readonly url: string
  readonly #env: Record<string, string>
  #process: ReturnType<typeof Bun.spawn> | undefined
  #log = ''

  private constructor(folder: string, port: number, env: Record<string, string>) {
    this.folder = folder
    this.program = join(folder, 'sotto')
    this.url = `http://127.0.0.1:${port}`
    this.#env = {
      ...{ DATA_DIR: join(folder, 'data'), PORT: String(port), HOST: '127.0.0.1' },
      ...{ RATE_LIMITS: 'off', LIMIT_POW_DIFFICULTY: '1', UPGRADE_SECONDS: String(READY_SECONDS), ...env },
    }
  }

  /** Installs this version, and starts its relay. */
  static async start(env: Record<string, string> = {}): Promise<Installation> {
    const folder = await mkdtemp(join(versions.root, 'machine-'))
    const installation = new Installation(folder, await findFreePort(), env)
    await cp(join(versions.former, versions.name), installation.program)
    const child = Bun.spawn([installation.program, 'serve'], {
      ...{ cwd: folder, env: installation.#env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
    })
    installation.#process = child
    void installation.#read(child.stderr)
    endings.push(() => installation.stop())
    await installation.isServedBy(manifest.version)
    return installation
  }

  /** Calls the installed program. */
  async call(...words: string[]) {
    const child = this.spawn(...words)
    const [output, errors, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { code, output, errors }
  }

  spawn(...words: string[]) {
    const streams = { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' } as const
    return Bun.spawn([this.program, ...words], { cwd: this.folder, env: this.#env, ...streams })
  }

  /** What the relay says of itself. */
  running() {
    return askRunning(this.#env)
  }

  /** Waits until a relay of this version is ready. */
  async isServedBy(version: string): Promise<void> {
    await until(`version ${version} is ready`, async () => {
      if (this.#process?.exitCode !== null) throw new Error(`the relay ended: ${this.#log}`)
      const running = await this.running().catch(() => undefined)
      return running?.version === version && running.ready
    })
  }

  /** Waits until the log tells of upgrades exactly so. */
  async logs(...events: string[]): Promise<void> {
    const upgrades = () => this.events.filter((event) => event.startsWith('upgrade'))
    await until('the log tells of all upgrades', () => upgrades().length >= events.length)
    expect(upgrades()).toEqual(events)
  }

  /** The names of the log's events. */
  get events(): string[] {
    return [...this.#log.matchAll(/"event":"(\w+)"/g)].map(([, event = '']) => event)
  }

  /** Ends the process that was started first. */
  async stop(): Promise<void> {
    this.#process?.kill('SIGTERM')
    expect(await this.#process?.exited).toBe(0)
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const piece of stream) this.#log += decoder.decode(piece, { stream: true })
  }
}

/** Two friends, one of whom writes to the other without a pause. */
async function talk(url: string) {
  const [alice, bob] = [await Person.join('alice', url), await Person.join('bob', url)]
  endings.push(() => Promise.all([alice.client.close(), bob.client.close()]))
  await alice.befriend(bob)
  const sent: string[] = []
  let isOver = false
  const writing = (async () => {
    while (!isOver) {
      const text = `message ${sent.length}`
      sent.push(text)
      const { id } = await alice.client.send(bob.alias, text)
      // Twenty are under way.
      if (sent.length % 20 === 0) await until('it is sent', () => isOver || isSent(alice, id))
    }
  })()
  endings.push(() => {
    isOver = true
    return writing
  })
  return {
    /** Waits until so many more have arrived. */
    goOn: async (count: number) => {
      const before = bob.heard.message.length
      await until(`${count} more arrived`, () => bob.heard.message.length >= before + count)
    },
    /** Ends the writing. All that was sent must have arrived once and in order. */
    end: async () => {
      isOver = true
      await writing
      await until('all arrived', () => bob.heard.message.length >= sent.length)
      expect(bob.heard.message.map(({ text }) => text)).toEqual(sent)
      // What arrived may not be acknowledged yet.
      const states = async (): Promise<readonly (string | undefined)[]> =>
        (await alice.client.messages(bob.alias, { limit: sent.length })).map(({ status }) => status)
      await until('all are acknowledged', async () => !(await states()).includes('sending'))
      expect(await states()).not.toContain('failed')
    },
  }
}

function isSent(person: Person, id: string): boolean {
  return person.heard.status_change.some(({ message }) => message.id === id)
}

for (const engine of engines) {
  describe(`on ${engine.name}`, () => {
    test('a relay is upgraded and taken back under load; no message is lost, doubled or out of order', async () => {
      const machine = await Installation.start(await engine.environment())
      const options = engine.name === 'SQLite' ? [] : ['--no-backup']
      const talking = await talk(machine.url)
      await talking.goOn(50)
      const there = await machine.call('upgrade', versions.next, ...options)
      expect(there).toMatchObject({
        code: 0,
        errors: '',
        output: expect.stringMatching(/\nVersion 99\.0\.0 runs\.\n$/),
      })
      await talking.goOn(50)
      expect((await machine.call('--version')).output).toBe('99.0.0\n')
      expect(await machine.call('upgrade', versions.next)).toMatchObject({
        ...{ code: 0, output: expect.stringContaining('This version runs already.') },
      })

      // The store of the new version has a table more.
      const back = await machine.call('upgrade', versions.former, '--force', ...options)
      expect(back).toMatchObject({ code: 0, errors: '' })
      expect(back.output).toEndWith(`\nVersion ${manifest.version} runs.\n`)
      await talking.goOn(50)
      await talking.end()
      await machine.logs('upgraded', 'upgraded')
      const copies = (await readdir(join(machine.folder, 'data'))).filter((name) =>
        name.startsWith('before-'),
      )
      // Only the copy of the last upgrade is kept.
      expect(copies).toHaveLength(engine.name === 'SQLite' ? 1 : 0)
    })
  })
}

/** What a script that stands for a new version says of itself. */
const says = (oldestSchema = 1): string =>
  `[ "$1" = version ] && { echo '{"version":"99.0.0","schema":1000,"oldest_schema":${oldestSchema}}'; exit; }`

test('if the new version ends or is never ready, the former one comes back, and messages go on', async () => {
  const machine = await Installation.start({ UPGRADE_SECONDS: '2' })
  const talking = await talk(machine.url)
  for (const end of ['exit 1', 'exec sleep 1000']) {
    const folder = await versions.script(`${says()}\n${end}`)
    expectRefused(
      { ...(await machine.call('upgrade', folder)), output: '' },
      `the new version was not ready within 2 s, so ${manifest.version} runs again; its log says why`,
    )
    await talking.goOn(20)
    expect((await machine.call('--version')).output).toBe(`${manifest.version}\n`)
  }
  await talking.end()
  await machine.logs('upgrade_failed', 'upgrade_undone', 'upgrade_failed', 'upgrade_undone')
})

test('a relay that runs from another program is not replaced', async () => {
  const [machine, other] = [await Installation.start(), await Installation.start()]
  const pid = (await machine.running())?.pid
  expectRefused(
    {
      ...(await other.call('upgrade', versions.next, '--data-dir', join(machine.folder, 'data'))),
      output: '',
    },
    `the running relay (process ${pid}) is another program; call its own upgrade`,
  )
})

test('what is not signed, damaged, for another system, older or one way is refused, and the relay runs on', async () => {
  const machine = await Installation.start()
  const refused = async (folder: string, sentence: string): Promise<void> => {
    expectRefused({ ...(await machine.call('upgrade', folder)), output: '' }, sentence)
  }
  const copyOf = async (folder: string): Promise<string> => {
    const copy = await mkdtemp(join(versions.root, 'copy-'))
    await cp(folder, copy, { recursive: true })
    return copy
  }
  const list = (folder: string): string => join(folder, 'SHA256SUMS')
  const file = (folder: string): string => join(folder, versions.name)

  const unsigned = await copyOf(versions.next)
  await rm(`${list(unsigned)}.sig`)
  await refused(unsigned, `${list(unsigned)}.sig cannot be read (ENOENT)`)
  await Bun.write(`${list(unsigned)}.sig`, crypto.getRandomValues(new Uint8Array(64)))
  await refused(
    unsigned,
    `${list(unsigned)}.sig is no signature of ${list(unsigned)} by the key; do not run these files`,
  )
  const cut = await copyOf(versions.next)
  await truncate(file(cut), 60_000_000)
  await refused(cut, `${file(cut)} is not one of the files that ${list(cut)} lists; fetch it again`)
  const foreign = await copyOf(versions.next)
  await rename(file(foreign), join(foreign, 'sotto-linux-other'))
  await versions.sign(foreign, 'sotto-linux-other')
  await refused(
    join(foreign, 'sotto-linux-other'),
    `${join(foreign, 'sotto-linux-other')} is sotto-linux-other, and this machine needs ${versions.name}`,
  )
  const older = await versions.script(says().replace('99.0.0', '0.0.1'))
  await refused(older, `it is version 0.0.1, and this is ${manifest.version}; --force takes it nevertheless`)

  const traced = join(machine.folder, 'traced')
  const oneWay = await versions.script(`${says(1000)}\ntouch '${traced}'`)
  await refused(
    oneWay,
    `version 99.0.0 changes the store so that ${manifest.version} cannot use it; --one-way goes on without a way back`,
  )
  await refused(await versions.script('exit 1'), 'the new program does not run on this machine')
  const other = await versions.script(says())
  const hashes = await Bun.file(list(other)).text()
  expect(hashes).toContain(versions.name)
  // A script that was not signed is never run.
  await appendFile(file(other), `touch '${traced}'\n`)
  await refused(other, `${file(other)} is not one of the files that ${list(other)} lists; fetch it again`)

  expect(await Bun.file(traced).exists()).toBe(false)
  expect((await readdir(machine.folder)).toSorted()).toEqual(['data', 'sotto'])
  expect(machine.events).not.toContain('stopping')
})

test('wherever sotto upgrade is killed, a relay runs, and calling it again finishes the work', async () => {
  const machine = await Installation.start()
  const talking = await talk(machine.url)
  const steps = ['Checked', 'Copied', 'Put', 'The relay stops']
  for (const [at, step] of steps.entries()) {
    const folder = at % 2 === 0 ? versions.next : versions.former
    const killed = machine.spawn('upgrade', folder, '--force')
    let said = ''
    for await (const piece of killed.stdout) {
      said += new TextDecoder().decode(piece)
      if (said.includes(step)) break
    }
    killed.kill('SIGKILL')
    await killed.exited
    await talking.goOn(10)
    expect(await machine.call('upgrade', folder, '--force')).toMatchObject({ code: 0, errors: '' })
    await talking.goOn(10)
    await machine.isServedBy(at % 2 === 0 ? '99.0.0' : manifest.version)
  }
  await talking.end()
})
