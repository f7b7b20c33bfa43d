// Erases every key of version 3 from a device, together with the place that held the key of all others.
import type { Platform } from '../platform/platform.ts'
import { SecretStates } from '../stores/secret-states.ts'
import { givenWorker } from './given-worker.ts'

/**
 * Erases the keys of a store whose identity was removed. @throws ClientError `STORE_FAILED`,
 * `STORE_LOCKED`
 */
export async function eraseKeys({ store, random, clock }: Platform): Promise<void> {
  const states = await SecretStates.open({
    ...{ store, clock, randomBytes: random },
    // Nothing is rotated here.
    onFailure: () => {},
    startWorker: givenWorker(),
  })
  await states.erase()
  await states.abandon()
}
