// Version 3 for modules that are nothing without it.
import { ClientError } from '../client-error.ts'

/** @throws ClientError `INVALID_ARGUMENT` without the option `forwardSecrecy`, and as loading it does */
export async function needForward<T>({ forward }: { readonly forward: Promise<T> | undefined }): Promise<T> {
  if (!forward)
    throw new ClientError('INVALID_ARGUMENT', 'pass `forwardSecrecy()` as the option of this name')
  return forward
}
