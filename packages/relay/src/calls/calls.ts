// Calls as the rest of the relay knows them: signals, who is there to take them, and the servers media goes through.
import type { Limits } from '@sotto/protocol'
import type { CallHandler, ConnectionFollower } from '../gateway/frame-handlers.ts'
import type { Handlers } from '../listener/route.ts'
import type { Clock } from '../operations/clock.ts'
import type { RandomBytes } from '../operations/random.ts'
import { iceConfig } from './ice.ts'
import type { IceServers } from './ice-settings.ts'
import { CallSignals, type SignalParts } from './signals.ts'
import { WaitingOffers } from './waiting-offers.ts'

/** What calls are built from. */
export interface CallParts extends Omit<SignalParts, 'offers'> {
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly limits: Limits
  readonly iceServers: IceServers
}

/** Puts calls together. */
export function createCalls(parts: CallParts) {
  const { limits, iceServers } = parts
  const offers = new WaitingOffers(parts)
  const signals = new CallSignals({ ...parts, offers })

  const handler: CallHandler = async (signal, connection) => {
    if (signals.pendingOf(connection.account) + Buffer.byteLength(signal.text) > limits.heldBytes) {
      connection.close('overload') // The store does not keep up.
      return
    }
    await signals.forward(connection, signal)
  }
  const follower: ConnectionFollower = signals
  const routes: Handlers<'iceConfig'> = {
    iceConfig: async ({ query }) => iceConfig(iceServers, query.mode, parts),
  }
  return {
    handler,
    follower,
    routes,
    /** Drops what has waited for long enough. */
    forget: (): void => offers.forget(),
  }
}
