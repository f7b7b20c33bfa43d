// Waits for a promise, but only for a limited time.

/** Waits for `work`, at most `mostMs`. @returns whether it ended in that time */
export async function within(mostMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timedOut = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), mostMs)
  })
  try {
    return await Promise.race([work.then(() => true), timedOut])
  } finally {
    clearTimeout(timer)
  }
}
