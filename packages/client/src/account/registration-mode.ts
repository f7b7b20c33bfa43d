// Who may register at a relay. No identity is needed to ask for it.
import { type RegistrationMode, registrationModes } from '@sotto/protocol'
import { ClientError, orAborted, throwIfAborted } from '../client-error.ts'

const TIMEOUT_MS = 10_000

/**
 * Asks a relay who may register: everybody, who has an invite, or nobody. Ask it before you ask a person for
 * anything else. A relay that does not say it is open.
 * @throws ClientError `NETWORK` if no relay answers, `ABORTED`
 */
export async function registrationMode(
  relayUrl: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<RegistrationMode> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const asking = fetch(`${relayUrl.replace(/\/+$/, '')}/health`, { signal, credentials: 'omit' })
    const said: unknown = await orAborted(
      asking.then((answer) => answer.json()),
      options.signal,
    )
    return registrationModes.find((mode) => mode === Reflect.get(Object(said), 'registration')) ?? 'open'
  } catch (cause) {
    throwIfAborted(options.signal)
    throw new ClientError('NETWORK', 'no relay answers', { cause })
  }
}
