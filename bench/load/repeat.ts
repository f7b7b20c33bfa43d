// Repeats work for some seconds with several workers at the same time.

/**
 * Repeats `work` for `seconds` with `atOnce` workers. Each call gets an index below `of`. Worker n gets n, n
 * + atOnce, n + 2 × atOnce and so on, so two workers never use the same account.
 * @returns how often `work` was done
 */
export async function repeat(
  { atOnce, of, seconds }: { atOnce: number; of: number; seconds: number },
  work: (index: number, worker: number) => Promise<void>,
): Promise<number> {
  const end = performance.now() + seconds * 1000
  let count = 0
  const run = async (worker: number): Promise<void> => {
    for (let index = worker; performance.now() < end; index += atOnce) {
      if (index >= of) index = worker
      await work(index, worker)
      count += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, (_, worker) => run(worker)))
  return count
}
