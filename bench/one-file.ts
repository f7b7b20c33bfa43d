// `npm run bench -- one-file`: how soon the one file listens, and what it takes when it is idle, against the
// sources that a clone runs. Each start has a new data folder.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../scripts/client-package/entries.ts'
import { buildRelay } from '../scripts/relay-build/build.ts'
import { ownTarget } from '../scripts/relay-build/targets.ts'
import type { Bench } from './bench.ts'
import { median, ratio, residentKib } from './measure.ts'

const ROUNDS = 9

interface Start {
  readonly listensMs: number
  readonly idleMib: number
}

export const oneFile: Bench = {
  means: 'the start of the one file and its memory when it is idle, against the sources of a clone',
  run: async ({ seconds }) => {
    const folder = await mkdtemp(join(tmpdir(), 'sotto-bench-'))
    try {
      const target = await ownTarget()
      await buildRelay({ targets: [target], folder, print: (line) => console.log(line) })
      const programs = {
        'the one file': [join(folder, `sotto-${target.name}`)],
        'a clone': [process.execPath, join(ROOT, 'packages/cli/src/main.ts')],
      }
      const starts = new Map(Object.keys(programs).map((name) => [name, [] as Start[]]))
      for (let round = 0; round < ROUNDS; round++)
        for (const [name, program] of Object.entries(programs))
          starts.get(name)?.push(await measure(program, await mkdtemp(join(folder, 'data-')), seconds))
      const rows = [...starts].map(([program, of]) => ({
        program,
        'listens after ms': Math.round(median(of.map(({ listensMs }) => listensMs))),
        'idle MiB': ratio(median(of.map(({ idleMib }) => idleMib))),
      }))
      return { settings: { rounds: ROUNDS, idleSeconds: seconds }, rows }
    } finally {
      await rm(folder, { recursive: true })
    }
  },
}

async function measure(program: readonly string[], folder: string, seconds: number): Promise<Start> {
  const startedAt = performance.now()
  const child = Bun.spawn([...program, 'serve', '--data-dir', folder], {
    env: { PORT: '0', LOG_LEVEL: 'warn' },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  try {
    const reader = child.stdout.getReader()
    for (let said = ''; !said.includes('listens on'); ) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`${program.join(' ')} ended`)
      said += new TextDecoder().decode(value)
    }
    const listensMs = performance.now() - startedAt
    await Bun.sleep(seconds * 1000)
    return { listensMs, idleMib: residentKib(child.pid) / 1024 }
  } finally {
    child.kill()
    await child.exited
  }
}
