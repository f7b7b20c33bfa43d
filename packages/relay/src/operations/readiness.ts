// Reports whether the relay can do its work, for load balancers and monitors.
import type { Storage } from '../storage/storage.ts'
import type { ClockTrust } from './clock-trust.ts'
import type { DurabilityCheck } from './durability-check.ts'
import { within } from './within.ts'

const STORAGE_ANSWERS_WITHIN_MS = 2000

/** Whether the relay is ready, and the state of each part. */
export interface Readiness {
  readonly ready: boolean
  readonly parts: Readonly<Record<string, string>>
}

/**
 * A relay that does not trust its clock is still ready: it delivers, and nothing expires. So is one whose
 * database became unsafe: to stop every node would be a certain loss against a possible one.
 */
export async function readReadiness(parts: {
  storage: Storage
  clockTrust: ClockTrust
  durability: DurabilityCheck
}): Promise<Readiness> {
  const answers = await within(STORAGE_ANSWERS_WITHIN_MS, parts.storage.ping()).catch(() => false)
  const isStopped = answers && (await parts.clockTrust.isLost())
  return {
    ready: answers,
    parts: {
      storage: answers ? 'ok' : 'failing',
      expiry: isStopped ? 'stopped' : 'ok',
      durability: parts.durability.state,
    },
  }
}
