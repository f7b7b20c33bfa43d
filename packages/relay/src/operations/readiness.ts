// Reports whether the relay can do its work, for load balancers and monitors.
import { isDiskFull } from '../storage/storage.ts'
import type { ClockTrust } from './clock-trust.ts'
import type { DiskSpace } from './disk-space.ts'
import type { DurabilityCheck } from './durability-check.ts'
import { within } from './within.ts'

const STORAGE_ANSWERS_WITHIN_MS = 2000

/** Whether the relay is ready, and the state of each part. */
export interface Readiness {
  readonly ready: boolean
  readonly parts: Readonly<Record<string, string>>
}

/**
 * A relay whose disk is full is still ready: it delivers, and takes what frees space. So is one that does not
 * trust its clock: it delivers, and nothing expires. So is one whose payments wait or are lost. So is one
 * that other nodes cannot notify: it looks into the store instead. So is one whose database became unsafe: to
 * stop every node would be a certain loss against a possible one.
 */
export async function readReadiness(parts: {
  space: Pick<DiskSpace, 'state' | 'tryWrite'>
  clockTrust: Pick<ClockTrust, 'isLost'>
  durability: Pick<DurabilityCheck, 'state'>
  bus: { readonly state: { readonly isHeard: boolean } }
  /** Why payments wait, and whether payments are lost that had counted. */
  paymentTroubles: () => Promise<readonly string[]>
  /** Whether the relay is about to stop. */
  isDraining: boolean
}): Promise<Readiness> {
  const storage = await storageState(parts.space)
  const answers = storage !== 'failing'
  const isStopped = answers && (await parts.clockTrust.isLost())
  const troubles = answers ? await parts.paymentTroubles() : []
  return {
    ready: answers && !parts.isDraining,
    parts: {
      node: parts.isDraining ? 'draining' : 'ok',
      ...{ storage, expiry: isStopped ? 'stopped' : 'ok', durability: parts.durability.state },
      bus: parts.bus.state.isHeard ? 'ok' : 'silent',
      payments: troubles.join(', ') || 'ok',
    },
  }
}

async function storageState(space: Pick<DiskSpace, 'state' | 'tryWrite'>): Promise<string> {
  try {
    return (await within(STORAGE_ANSWERS_WITHIN_MS, space.tryWrite())) ? space.state : 'failing'
  } catch (error) {
    return isDiskFull(error) ? 'full' : 'failing'
  }
}
