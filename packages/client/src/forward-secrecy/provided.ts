// Where the engine finds version 3: only an application that passes `forwardSecrecy()` has it in its build.
import { ClientError } from '../client-error.ts'
import type * as part from './forward-secrecy.ts'
import type { LateContext, LateForward } from './late-forward.ts'

/** The part of the client that runs version 3. */
type Part = typeof part

/** What the entry of an application provides. */
export interface Provided {
  readonly open: (context: LateContext) => LateForward
  /** Loads the part, which is a script of its own. */
  readonly load: () => Promise<Part>
}

let provided: Provided | undefined

/** Says where version 3 is. */
export function provideForwardSecrecy(what: Provided): void {
  provided = what
}

/** Version 3 for one identity. @throws ClientError `INVALID_ARGUMENT` if the application has none */
export function openLateForward(context: LateContext): LateForward {
  return needProvided().open(context)
}

/**
 * Loads the part. @throws ClientError `INVALID_ARGUMENT` if the application has none, `NETWORK` if its script
 * cannot be loaded
 */
export async function loadForwardSecrecy(): Promise<Part> {
  const { load } = needProvided()
  try {
    return await load()
  } catch (cause) {
    throw new ClientError('NETWORK', 'the script of forward secrecy cannot be loaded', { cause })
  }
}

function needProvided(): Provided {
  if (!provided)
    throw new ClientError('INVALID_ARGUMENT', 'pass `forwardSecrecy()` as the option of this name')
  return provided
}
