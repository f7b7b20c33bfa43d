// Runs a search of `spin` over a Promela model in a folder of its own, and reads its result strictly.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MODELS = join(import.meta.dir, 'models')
/** A search that needs more ends, and counts as failed. */
const MEGABYTES = 3_000
/** 2^21 slots: the usual 2^24 cost more than a small search. */
const HASH = '-w21'
/** Steps of one execution. No execution of the models is as long. */
const DEPTH = 20_000

/** What to search. */
interface Search {
  /** The name of a file in `models`, without `.pml`. */
  model: string
  /** Macros of the model, such as `LIES=1` or `BUG_NO_RESEND`. */
  defines?: readonly string[]
  /**
   * `promises`: no assertion fails and no process is stuck in any execution.
   * `ends`: no execution goes on for ever. The models have no progress labels, so every cycle is an error.
   */
  for: 'promises' | 'ends'
}

/** What a search found. */
interface Found {
  /** The first error in spin's words, or undefined if the whole space was searched and has none. */
  error: string | undefined
  /** States that were stored. */
  states: number
}

/** Searches the whole space. Throws if the model does not compile, or if the search was not complete. */
export async function search({ model, defines = [], for: what }: Search): Promise<Found> {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-spin-'))
  try {
    const source = join(MODELS, `${model}.pml`)
    const warnings = await run(['spin', '-a', ...defines.map((define) => `-D${define}`), source], folder)
    if (/error/i.test(warnings)) throw new Error(`spin does not accept ${model}: ${warnings}`)
    const kind = what === 'ends' ? ['-DNP'] : ['-DSAFETY']
    // Optimizing costs more than it saves in most searches.
    const options = ['-O0', '-DCOLLAPSE', '-DVECTORSZ=2048', `-DMEMLIM=${MEGABYTES}`, ...kind]
    await run(['gcc', ...options, '-o', 'pan', 'pan.c'], folder)
    const output = await run(['./pan', `-m${DEPTH}`, HASH, ...(what === 'ends' ? ['-l'] : [])], folder)
    return read(output)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function read(output: string): Found {
  const errors = /errors: (\d+)/.exec(output)?.[1]
  const states = /(\d+) states, stored/.exec(output)?.[1]
  if (errors === undefined || states === undefined) throw new Error(`No result of spin: ${output}`)
  if (/max search depth too small|out of memory|reached -DMEMLIM|hash-?table full/i.test(output)) {
    throw new Error(`The search was truncated: ${output}`)
  }
  const error = /^pan:\d+: (.*)$/m.exec(output)?.[1]
  if (Number(errors) !== (error === undefined ? 0 : 1)) throw new Error(`Unclear result of spin: ${output}`)
  // Spin says so also when it stops at an error, and only then is it no defect of the search.
  if (error === undefined && /Search not completed/.test(output)) throw new Error(`Not complete: ${output}`)
  return { error, states: Number(states) }
}

async function run(command: string[], folder: string): Promise<string> {
  const child = Bun.spawn(command, { cwd: folder, stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${stderr}${stdout}`)
  return stdout + stderr
}
