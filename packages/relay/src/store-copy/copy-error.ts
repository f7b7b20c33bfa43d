// Why a store cannot be copied, in one sentence for the operator.

/** A copy cannot be begun or finished, and the operator can change that. */
export class CopyError extends Error {
  override readonly name = 'CopyError'
}
