// Writes much, or again and again, to who reads it.

/**
 * Writes to the standard output and waits until it has been taken.
 * @throws an error with the code EPIPE if nobody reads any more; `main` then ends
 */
export function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })
}
