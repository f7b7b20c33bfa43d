// sotto upgrade: replaces this program and the relay that runs from it by a signed, newer one.
import { rm } from 'node:fs/promises'
import type { Running } from '@sotto/relay'
import manifest from '../../package.json' with { type: 'json' }
import { type Command, CommandError, type Flags } from '../command.ts'
import { programFile, releaseInside } from '../program.ts'
import { atRelay, environmentOf, type Relay } from '../relay-environment.ts'
import { askWhatItIs, copyBeside, type Description, takePlace } from './candidate.ts'
import { checkSignedFile, sha256Of } from './release.ts'
import { formerOf, idOf, putBack } from './successor.ts'
import { signerOf } from './verify-command.ts'

const ASK_EVERY_MS = 100

export const upgradeCommand: Command = {
  name: 'upgrade',
  summary: 'replace this program and its running relay by a newer version',
  help: `Usage: sotto upgrade FILE [--data-dir D] [--public-key KEY] [--force] [--one-way] [--no-backup]

FILE is the new program, or a folder that contains it, with SHA256SUMS and SHA256SUMS.sig beside
it. Checks signature, hash, system and version, copies the database, puts the new program in the
place of this one, and has the running relay make room for it. Clients connect again by
themselves. If the new relay is not ready within UPGRADE_SECONDS, the former one comes back. It
stays beside the new one as sotto.previous.

  --data-dir D      the relay's data folder (default: DATA_DIR, otherwise ./data)
  --public-key KEY  the file with the public key (PEM) of who signed. The default is the key that
                    this program was built with
  --force           also take the same version or an older one
  --one-way         go on although the new relay changes the store so that this one cannot use it
  --no-backup       make no copy of the database, which PostgreSQL needs: use pg_dump before`,
  options: {
    'data-dir': { type: 'string' },
    'public-key': { type: 'string' },
    ...{ force: { type: 'boolean' }, 'one-way': { type: 'boolean' }, 'no-backup': { type: 'boolean' } },
  },
  words: ['FILE'],
  run: (flags, [path = '']) => atRelay((relay) => upgrade(relay, flags, path)),
}

async function upgrade(relay: Relay, flags: Flags, path: string): Promise<number> {
  const target = releaseInside()?.target
  if (programFile === undefined || target === undefined)
    throw new CommandError('this is a clone, which git upgrades; sotto upgrade is for the one file')
  const environment = environmentOf(flags)
  const signed = await checkSignedFile(path, await signerOf(flags))
  if (signed.name !== `sotto-${target}`)
    throw new CommandError(`${signed.path} is ${signed.name}, and this machine needs sotto-${target}`)
  say(`Checked ${signed.path}.`)
  const running = await relay.askRunning(environment)
  const executable = running && (await executableOf(running))
  if (running) await refuseOthers(running, programFile)

  // An upgrade that was cut off may have put it there.
  if ((await sha256Of(programFile)) !== signed.sha256) {
    const copy = await copyBeside(programFile, signed)
    try {
      const next = await askWhatItIs(copy)
      refuseWrong(next, relay, flags)
      if (!flags['no-backup'])
        say(`Copied the database to ${await relay.backUpBefore(environment, next.version)}.`)
      await takePlace(programFile, copy, executable)
      say(
        `Put version ${next.version} in the place of ${programFile}; ${formerOf(programFile)} is the former.`,
      )
    } finally {
      await rm(copy, { force: true })
    }
  }
  if (!running) return done('No relay runs here. The next one is the new version.')
  if (executable === (await idOf(programFile))) return done('This version runs already.')
  return done(await replace(running, programFile, { relay, environment }))
}

/** Refuses a relay that runs from another program, which this command would not replace. */
async function refuseOthers(running: Running, file: string): Promise<void> {
  const executable = await executableOf(running)
  for (const own of [file, formerOf(file)]) if ((await idOf(own)) === executable) return
  throw new CommandError(
    `the running relay (process ${running.pid}) is another program; call its own upgrade`,
  )
}

function refuseWrong(next: Description, { oldestSchema, schema }: Relay, flags: Flags): void {
  const own = manifest.version
  if (!flags.force && Bun.semver.order(next.version, own) <= 0)
    throw new CommandError(`it is version ${next.version}, and this is ${own}; --force takes it nevertheless`)
  if (next.schema < oldestSchema)
    throw new CommandError(`version ${next.version} cannot use the store, because version ${own} changed it`)
  if (next.oldest_schema > schema && !flags['one-way'])
    throw new CommandError(
      `version ${next.version} changes the store so that ${own} cannot use it; --one-way goes on without a way back`,
    )
}

/** Has the relay make room, and waits for the next one. @returns what to tell the operator */
async function replace(
  former: Running,
  file: string,
  { relay, environment }: { relay: Relay; environment: ReturnType<typeof environmentOf> },
): Promise<string> {
  const next = await idOf(file)
  await relay.handOver(environment)
  say('The relay stops, and its clients will connect again.')
  const mostSeconds = 3 * (former.stop_seconds + former.ready_seconds)
  const late = performance.now() + mostSeconds * 1000
  while (performance.now() < late) {
    // Nobody answers between two relays.
    const running = await relay.askRunning(environment).catch(() => undefined)
    if (running && running.pid !== former.pid && running.ready) {
      if ((await executableOf(running)) === next) return `Version ${running.version} runs.`
      // The relay does it, too, but may not be allowed to.
      await putBack(file, next)
      throw new CommandError(
        `the new version was not ready within ${former.ready_seconds} s, so ${running.version} runs again; its log says why`,
      )
    }
    await Bun.sleep(ASK_EVERY_MS)
  }
  throw new CommandError(`no relay was ready within ${mostSeconds} s; its log says why`)
}

/** The file that a relay runs from, as {@link idOf}. Where it lies may have changed since it started. */
async function executableOf({ pid }: Running): Promise<string> {
  const id = await idOf(`/proc/${pid}/exe`)
  if (id === undefined)
    throw new CommandError(`/proc/${pid}/exe, the program of the running relay, cannot be read`)
  return id
}

function done(line: string): number {
  say(line)
  return 0
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
