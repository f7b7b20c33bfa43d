// Where the engine finds version 3: only an application that passes `forwardSecrecy()` has it in its build.
import { ClientError } from '../client-error.ts'
import type * as part from './forward-secrecy.ts'

/** The part of the client that runs version 3. */
type Part = typeof part

let load: (() => Promise<Part>) | undefined

/** Says how the part is loaded. */
export function provideForwardSecrecy(how: () => Promise<Part>): void {
  load = how
}

/**
 * Loads the part. @throws ClientError `INVALID_ARGUMENT` if the application has none, `NETWORK` if its script
 * cannot be loaded
 */
export async function loadForwardSecrecy(): Promise<Part> {
  if (!load) throw new ClientError('INVALID_ARGUMENT', 'pass `forwardSecrecy()` as the option of this name')
  try {
    return await load()
  } catch (cause) {
    throw new ClientError('NETWORK', 'the script of forward secrecy cannot be loaded', { cause })
  }
}
