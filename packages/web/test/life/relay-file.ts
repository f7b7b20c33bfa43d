// The one file of a relay, alone in a folder, as somebody runs it who has nothing else.
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Versions } from '../../../cli/test/two-versions.ts'
import { until } from '../../../client/test/people.ts'

type Settings = Readonly<Record<string, string>>

/** A folder with nothing in it but the file, and what the file makes there. */
export class RelayFile {
  readonly folder: string
  readonly #settings: Settings
  #output = ''
  #child: Bun.Subprocess<'ignore', 'pipe', 'pipe'> | undefined

  private constructor(folder: string, settings: Settings) {
    this.folder = folder
    this.#settings = settings
  }

  /** Puts the file into a new folder. */
  static async install({ root, name, former }: Versions, settings: Settings): Promise<RelayFile> {
    const folder = join(root, 'machine')
    await mkdir(folder)
    await cp(join(former, name), join(folder, 'sotto'))
    return new RelayFile(folder, settings)
  }

  /**
   * The same file and settings on another machine: another folder.
   * @param changed settings that are others there
   * @param kept what is brought there as well, of this folder
   */
  async moves(changed: Settings, ...kept: readonly string[]): Promise<RelayFile> {
    const folder = `${this.folder}-2`
    await mkdir(folder)
    for (const name of ['sotto', ...kept])
      await cp(join(this.folder, name), join(folder, name), { recursive: true })
    return new RelayFile(folder, { ...this.#settings, ...changed })
  }

  /** All that the relay has printed since its start. */
  get output(): string {
    return this.#output
  }

  /** Runs `./sotto serve`. Resolves when it accepts connections. */
  async serve(): Promise<void> {
    this.#output = ''
    this.#child = this.#start('serve')
    for (const stream of [this.#child.stdout, this.#child.stderr]) void this.#read(stream)
    await until('the relay listens', () => this.#isOver() || this.#output.includes('Next:'), 120_000)
    if (this.#isOver()) throw new Error(`it ended: ${this.#output}`)
  }

  /** Runs another command of the file. Resolves with what it printed. @throws Error if it fails */
  async call(...args: readonly string[]): Promise<string> {
    const child = this.#start(...args)
    const [text, problem] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    if ((await child.exited) !== 0) throw new Error(`sotto ${args.join(' ')}: ${text}${problem}`)
    return text
  }

  /** How often the relay has logged this event. */
  count(event: string): number {
    return this.#output.split(`"event":"${event}"`).length - 1
  }

  /** Ends the relay as a system does. Resolves with its exit code. */
  async stop(): Promise<number> {
    this.#child?.kill('SIGTERM')
    return (await this.#child?.exited) ?? 0
  }

  #start(...args: readonly string[]): Bun.Subprocess<'ignore', 'pipe', 'pipe'> {
    return Bun.spawn(['setpriv', '--pdeathsig', 'KILL', '--', './sotto', ...args], {
      ...{ cwd: this.folder, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
      // Nothing of the environment of the tests.
      env: { ...this.#settings, DATA_DIR: 'data' },
    })
  }

  #isOver(): boolean {
    return this.#child?.exitCode !== null
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const bytes of stream) this.#output += decoder.decode(bytes, { stream: true })
  }
}
