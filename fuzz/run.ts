// Runs the parts of the fuzz program one after the other, and says what they found.
import type { TestEngine } from '../packages/relay/test/engines.ts'
import { Inputs } from './inputs.ts'
import type { Figures, Part } from './part.ts'

/** How a part ended. */
export interface Result {
  readonly part: string
  readonly inputs: number
  readonly seconds: number
  readonly answers: Readonly<Record<string, number>>
  /** What the attacked relay used; undefined if there was none, or if the part failed. */
  readonly figures: Figures | undefined
  /** What is broken, with the inputs that show it; undefined if nothing is. */
  readonly finding: string | undefined
}

/**
 * Runs these parts, each for its share of the time.
 * @param options.from the index of the first input
 * @param options.tell gets each result at once
 */
export async function runParts(
  parts: readonly Part[],
  options: {
    seed: number
    seconds: number
    from?: number
    engine: TestEngine
    tell?: (result: Result) => void
  },
): Promise<Result[]> {
  const { seed, seconds, from = 0, engine, tell = () => undefined } = options
  const shares = parts.reduce((sum, { share }) => sum + share, 0)
  const results: Result[] = []
  for (const part of parts) {
    const inputs = new Inputs({ part: part.name, seed, from, seconds: (seconds * part.share) / shares })
    const result = await runPart(part, inputs, { seed, engine })
    tell(result)
    results.push(result)
  }
  return results
}

async function runPart(
  part: Part,
  inputs: Inputs,
  { seed, engine }: { seed: number; engine: TestEngine },
): Promise<Result> {
  const startedMs = performance.now()
  let [figures, finding]: [Figures | undefined, string | undefined] = [undefined, undefined]
  try {
    figures = await part.run(inputs, engine)
  } catch (error) {
    const again = `npm run fuzz -- --seed ${seed} --only ${part.name} --engine ${engine.name.toLowerCase()}`
    const what = error instanceof Error && error.name === 'Finding' ? error.message : Bun.inspect(error)
    finding = `${part.name}: ${what}\nThe latest inputs:\n${inputs.describeRecent()}\nAgain: ${again}`
  }
  return {
    part: part.name,
    inputs: inputs.count,
    seconds: (performance.now() - startedMs) / 1000,
    answers: Object.fromEntries([...inputs.answers].sort(([one], [other]) => (one < other ? -1 : 1))),
    figures,
    finding,
  }
}

/** A result as a row of a table. */
export function rowOf({
  part,
  inputs,
  seconds,
  answers,
  figures,
  finding,
}: Result): Record<string, string | number> {
  const change = (pair: readonly [number, number] | undefined): string =>
    pair?.map(Math.round).join(' → ') ?? ''
  return {
    part,
    inputs,
    s: Math.round(seconds),
    'inputs/s': Math.round(inputs / seconds),
    429: answers['429'] ?? 0,
    'memory, MiB': change(figures?.memoryMib),
    descriptors: change(figures?.descriptors),
    timers: change(figures?.timers),
    found: finding === undefined ? '' : 'yes',
  }
}
