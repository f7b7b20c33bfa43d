// A node of a simulation: the relay's own gateway, connections, messages, tokens and bus, on a simulated
// store and network. Channels, calls, payments and media are left out.
import { type Limits, ProtocolError } from '@sotto/protocol'
import type { WebSocketHandler } from 'bun'
import { admit, deadTokenReasonsOf } from '../../packages/relay/src/accounts/admission.ts'
import type { LiveKeys } from '../../packages/relay/src/accounts/relay-keys.ts'
import { Tickets } from '../../packages/relay/src/accounts/tickets.ts'
import { Tokens } from '../../packages/relay/src/accounts/tokens.ts'
import type { Bus } from '../../packages/relay/src/cluster/bus.ts'
import { openSharedBus } from '../../packages/relay/src/cluster/shared-bus.ts'
import { Epochs } from '../../packages/relay/src/gateway/epochs.ts'
import { type Admission, Gateway, type SocketData } from '../../packages/relay/src/gateway/gateway.ts'
import { createMessages } from '../../packages/relay/src/messages/messages.ts'
import type { Clock } from '../../packages/relay/src/operations/clock.ts'
import type { Log, LogFields } from '../../packages/relay/src/operations/log.ts'
import { RelayMetrics } from '../../packages/relay/src/operations/relay-metrics.ts'
import { noSecurityLog } from '../../packages/relay/src/operations/security-log.ts'
import type { Storage } from '../../packages/relay/src/storage/storage.ts'
import { ampleSpace } from '../../packages/relay/test/ample-space.ts'
import type { Network } from './network.ts'
import type { Owner, Schedule } from './schedule.ts'
import type { Weather } from './weather.ts'

/** What a node is made of. */
export interface NodeParts {
  readonly owner: Owner
  readonly schedule: Schedule
  readonly weather: Weather
  readonly network: Network
  readonly storage: Storage
  readonly clock: Clock
  readonly limits: Limits
  readonly tokenKeys: LiveKeys
  /** A line of its log that is an error. */
  readonly onError: (event: string, fields: LogFields) => void
}

/** One life of a node, from its start until it is killed. */
export class SimulatedNode {
  readonly owner: Owner
  readonly webSocket: WebSocketHandler<SocketData>
  readonly #admit: (token: string) => Promise<Admission>

  private constructor(parts: NodeParts, { bus, log }: { bus: Bus; log: Log }) {
    const { storage, clock, limits, weather } = parts
    const randomBytes = (length: number): Uint8Array => weather.bytes(length)
    const metrics = new RelayMetrics({ log, clock })
    const shared = { storage, bus, clock, limits, log, metrics, randomBytes, space: ampleSpace }
    const tokens = new Tokens({ ...shared, keys: parts.tokenKeys, lifeSeconds: limits.tokenSeconds })
    const messages = createMessages({ ...shared, incarnation: 'one' })
    const gateway = new Gateway({
      ...shared,
      epochs: new Epochs(shared),
      rates: undefined,
      handlers: messages.frames,
      calls: async () => {
        throw new ProtocolError('INTERNAL') // The clients of a simulation do not call.
      },
      follower: messages.follower,
      watchers: [],
      securityLog: noSecurityLog,
      deadTokenReasonsOf: (owners) => deadTokenReasonsOf(owners, { storage, tokens }),
      retireToken: ({ jti, tokenExpiresAt }) => tokens.kill(jti, 'replaced', tokenExpiresAt),
    })
    this.owner = parts.owner
    this.webSocket = gateway.webSocket()
    const tickets = new Tickets({ ...shared, lifeSeconds: limits.ticketSeconds })
    this.#admit = (token) => admit({ token, uuid: undefined, ticket: undefined }, { tokens, tickets, clock })
  }

  /** Starts a node, in a step of its own. Resolves when clients can connect. */
  static async start(parts: NodeParts): Promise<SimulatedNode> {
    const { owner, schedule, weather, network, clock } = parts
    const log = logOf(owner, schedule, parts.onError)
    const randomBytes = (length: number): Uint8Array => weather.bytes(length)
    const bus = await openSharedBus(network.carrierOf(owner), { clock, randomBytes, log })
    return new SimulatedNode(parts, { bus, log })
  }

  admit(token: string): Promise<Admission> {
    return this.#admit(token)
  }
}

function logOf(owner: Owner, schedule: Schedule, onError: NodeParts['onError']): Log {
  const at =
    (level: string) =>
    (event: string, fields: LogFields = {}): void => {
      schedule.say(`${owner.name}: ${level} ${event} ${String(fields.error ?? '')}`)
      if (level === 'error') onError(event, fields)
    }
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') }
}
