// Opens the bus that fits the store and the settings: nodes that share a PostgreSQL notify each other through
// it, or through NATS.
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { nameInStore } from '../operations/name-in-store.ts'
import type { RandomBytes } from '../operations/random.ts'
import type { Storage } from '../storage/storage.ts'
import type { Bus } from './bus.ts'
import { createInProcessBus } from './in-process-bus.ts'
import type { NatsServers } from './nats-settings.ts'
import { postgresCarrier } from './postgres-carrier.ts'
import { type OpenCarrier, openSharedBus } from './shared-bus.ts'

/** Opens the bus. */
export async function openBus(
  config: {
    /** Where the shared store is; undefined if the store is embedded. */
    readonly databaseUrl: string | undefined
    readonly nats: NatsServers | undefined
  },
  parts: {
    readonly storage: Storage
    readonly clock: Clock
    readonly randomBytes: RandomBytes
    readonly log: Log
  },
): Promise<Bus> {
  const { databaseUrl, nats } = config
  if (databaseUrl === undefined) return createInProcessBus()
  const relay = nats && (await nameInStore('bus', parts))
  return await openSharedBus(openCarrier({ databaseUrl, nats, relay }), parts)
}

/**
 * How to open what carries packets between the nodes.
 * @param how.relay the name of the relay on a NATS server; PostgreSQL needs none
 */
export function openCarrier(how: {
  readonly databaseUrl: string
  readonly nats: NatsServers | undefined
  readonly relay: string | undefined
}): OpenCarrier {
  const { databaseUrl, nats, relay } = how
  if (nats === undefined) return postgresCarrier(databaseUrl)
  return async (events) => {
    // NATS's library takes 15 MB of memory, which only those who use it pay.
    const { natsCarrier } = await import('./nats-carrier.ts')
    return await natsCarrier(nats, `sotto.${relay}`)(events)
  }
}
