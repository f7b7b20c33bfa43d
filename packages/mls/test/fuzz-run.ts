// Runs the fuzz worker and ends it when an input takes too long.
import { type FuzzAnswer, type FuzzOrder, INPUT_AT } from './fuzz-order.ts'

/** How long one input may take. Generous, because the machine may be busy. */
const LIMIT_MS = 20_000
const LARGEST_INPUT = 1 << 20

/** @returns how many inputs each decoder took as valid. Rejects with the input that broke a decoder. */
export async function fuzz(seed: number, count: number): Promise<Record<string, number>> {
  const progress = new SharedArrayBuffer(INPUT_AT + LARGEST_INPUT)
  const numbers = new Int32Array(progress, 0, 2)
  const worker = new Worker(new URL('./fuzz-worker.ts', import.meta.url).href)
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, number>>()
  worker.onmessage = ({ data }: MessageEvent<FuzzAnswer>) => {
    if ('wrong' in data) reject(new Error(data.wrong))
    else resolve(data.taken)
  }
  worker.onerror = ({ message }) => reject(new Error(message))
  let [last, sinceMs] = [-1, performance.now()]
  const watch = setInterval(() => {
    const at = Atomics.load(numbers, 0)
    if (at !== last) [last, sinceMs] = [at, performance.now()]
    else if (performance.now() - sinceMs > LIMIT_MS) {
      const input = Buffer.from(new Uint8Array(progress, INPUT_AT, numbers[1]).slice()).toString('hex')
      reject(new Error(`seed ${seed}, input ${at - 1} takes longer than ${LIMIT_MS} ms: ${input}`))
    }
  }, 250)
  worker.postMessage({ seed, count, progress } satisfies FuzzOrder)
  try {
    return await promise
  } finally {
    clearInterval(watch)
    worker.terminate()
  }
}
