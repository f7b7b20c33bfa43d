// Reads the error of a failed promise. Tests of every package use it.

/**
 * Waits until a promise fails and returns its error.
 *
 * Tests use this instead of `expect(promise).rejects`. Bun's `rejects` runs a second event loop inside the
 * call, and a `setImmediate` of the calling tick then never runs. Work that needs that callback, such as a
 * browser's reply, hangs.
 */
export async function failureOf(work: PromiseLike<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('the promise did not fail')
}
