// Opens the bus that fits the store: nodes that share a PostgreSQL notify each other through it.
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { Bus } from './bus.ts'
import { createInProcessBus } from './in-process-bus.ts'
import { postgresCarrier } from './postgres-carrier.ts'
import { openSharedBus } from './shared-bus.ts'

/** Opens the bus. @param databaseUrl where the shared store is; undefined if the store is embedded */
export async function openBus(
  databaseUrl: string | undefined,
  parts: { readonly clock: Clock; readonly randomBytes: RandomBytes; readonly log: Log },
): Promise<Bus> {
  if (databaseUrl === undefined) return createInProcessBus()
  return await openSharedBus(postgresCarrier(databaseUrl), parts)
}
