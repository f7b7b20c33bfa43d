// The public file of calls: forwards their signals, keeps waiting offers, and lists the STUN and TURN
// servers.
import type { Limits } from '@sotto/protocol'
import type { CallHandler, ConnectionFollower } from '../gateway/frame-handlers.ts'
import type { Handlers } from '../listener/route.ts'
import type { Clock } from '../operations/clock.ts'
import type { RandomBytes } from '../operations/random.ts'
import { iceConfig } from './ice.ts'
import type { IceServers } from './ice-settings.ts'
import { CallSignals, type SignalParts } from './signals.ts'
import { WaitingOffers } from './waiting-offers.ts'

export interface CallParts extends Omit<SignalParts, 'offers'> {
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly limits: Limits
  readonly iceServers: IceServers
}

export function createCalls(parts: CallParts) {
  const { limits, iceServers } = parts
  const offers = new WaitingOffers(parts)
  const signals = new CallSignals({ ...parts, offers })

  const handler: CallHandler = async (signal, connection) => {
    const bytes = Buffer.byteLength(signal.text)
    const isTooMuch =
      signals.pendingOf(connection.account) + bytes > limits.heldBytes ||
      signals.pending + bytes > limits.allHeldBytes
    if (isTooMuch) {
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
    /** Erases the offers that have waited too long. */
    eraseExpiredOffers: (): void => offers.eraseExpired(),
  }
}
