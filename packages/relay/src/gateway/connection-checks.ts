// Asks the store whether connections may stay: whether their tokens are alive, and whether they are the
// newest of their accounts over all nodes. Each connection is checked when it opens, and all of them when
// notifications may have been lost.
import type { Bus } from '../cluster/bus.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import { Repeatable } from '../operations/repeatable.ts'
import { RepeatedWarning } from '../operations/repeated-warning.ts'
import { Together } from '../operations/together.ts'
import { within } from '../operations/within.ts'
import type { Connection, ConnectionOwner } from './connection.ts'
import type { Connections, RetireToken } from './connections.ts'
import type { Epochs, ReplacedToken } from './epochs.ts'

/** Why a token that this relay issued opens no WebSocket any more. */
export type DeadTokenReason = 'jwt_revoked' | 'new_device_login'

/** How many connections one query checks. */
const CHECKED_TOGETHER = 256

export interface ConnectionCheckParts {
  /** Why the tokens of connections are dead, in their order; undefined for each that is alive. */
  readonly deadTokenReasonsOf: (
    owners: readonly ConnectionOwner[],
  ) => Promise<(DeadTokenReason | undefined)[]>
  readonly retireToken: RetireToken
  /** Undefined in a relay of one process. */
  readonly epochs: Epochs | undefined
  readonly bus: Bus
  readonly clock: Clock
  readonly log: Log
}

export class ConnectionChecks {
  readonly #parts: ConnectionCheckParts
  readonly #connections: Connections
  readonly #all: Repeatable
  /** Checks the tokens of connections that open at the same time. */
  readonly #opening: Together<Connection, undefined>

  constructor(parts: ConnectionCheckParts, connections: Connections) {
    this.#parts = parts
    this.#connections = connections
    const failed = new RepeatedWarning('look_failed', parts)
    this.#all = new Repeatable(
      () => this.#checkAll(),
      (error) => failed.happened({ error }),
    )
    this.#opening = new Together(async (connections) => {
      await this.#checkTokens(connections)
      return connections.map(() => undefined)
    })
    parts.bus.listenToLoss(() => this.#all.request())
  }

  /** Makes a connection the newest of its account on all nodes, and checks its token. */
  opened(connection: Connection): void {
    const { epochs } = this.#parts
    if (epochs) connection.untilEpoch = this.#begin(connection, epochs)
    else this.#announce(connection)
    void this.#checkToken(connection)
  }

  /** A connection is closed. */
  closed({ account, epoch }: Connection): void {
    if (epoch !== undefined) this.#parts.epochs?.end(account, epoch)
  }

  /** The store refused a frame, because the connection is not the newest one of its account. */
  wasReplaced(connection: Connection): void {
    this.#checkEpochs([connection]).catch((error) => {
      this.#parts.log.error('epoch_failed', { error, account: connection.account })
      connection.close('overload')
    })
  }

  /** Ends the checks. */
  stop(): Promise<void> {
    return this.#all.stop()
  }

  /** Records that all these connections are closed. Takes at most `mostMs`. */
  async endAll(connections: readonly Connection[], mostMs: number): Promise<void> {
    const { epochs, log } = this.#parts
    const ended = epochs?.endAll(connections.map(({ account }) => account))
    await within(mostMs, Promise.resolve(ended)).catch((error) => log.error('epoch_failed', { error }))
  }

  async #begin(connection: Connection, epochs: Epochs): Promise<void> {
    try {
      const begun = await epochs.begin(connection)
      if (!begun) return // The account is deleted, so the token is dead.
      connection.epoch = begun.epoch
      void this.#replaceOlder(connection, begun.replaced)
    } catch (error) {
      this.#parts.log.error('epoch_failed', { error, account: connection.account })
      connection.close('overload')
    } finally {
      // The frames that wait for it go on before any other can arrive.
      connection.untilEpoch = undefined
    }
  }

  /** Tells all nodes that a connection is the newest, once the token of the older one is useless. */
  async #replaceOlder(connection: Connection, older: ReplacedToken | undefined): Promise<void> {
    const { account } = connection
    const { log, retireToken } = this.#parts
    // Also if the older connection's node is gone, or its client would come back and replace the newer one.
    if (older) await retireToken(older).catch((error) => log.error('retire_token_failed', { error, account }))
    if (this.#connections.find(account) !== connection) {
      this.closed(connection) // It was closed or replaced meanwhile.
      return
    }
    this.#announce(connection)
    this.#connections.epochKnown(connection)
  }

  #announce({ account, id, jti, epoch }: Connection): void {
    this.#parts.bus.ring(account, { kind: 'connected', connection: id, jti, epoch })
  }

  // The token may have died after the upgrade checked it and before this connection could be notified.
  async #checkToken(connection: Connection): Promise<void> {
    try {
      await this.#opening.do(connection)
    } catch (error) {
      this.#parts.log.error('token_check_failed', { error, account: connection.account })
      connection.close('overload')
    }
  }

  async #checkAll(): Promise<void> {
    const connections = this.#connections.all()
    for (let i = 0; i < connections.length; i += CHECKED_TOGETHER) {
      const some = connections.slice(i, i + CHECKED_TOGETHER)
      await this.#checkTokens(some)
      await this.#checkEpochs(some)
    }
  }

  /** Closes those of some connections whose tokens are dead. */
  async #checkTokens(connections: readonly Connection[]): Promise<void> {
    const reasons = await this.#parts.deadTokenReasonsOf(connections)
    for (const [index, reason] of reasons.entries())
      if (reason) connections[index]?.goAway(reason, reason === 'jwt_revoked' ? 'tokenDead' : 'replaced')
  }

  /** Closes those of some connections that are not the newest of their accounts. */
  async #checkEpochs(connections: readonly Connection[]): Promise<void> {
    // One that begins while the store is read could be newer than what is read.
    const begun = connections.filter(({ epoch }) => epoch !== undefined)
    const { epochs } = this.#parts
    if (!epochs || begun.length === 0) return
    const newest = await epochs.newestOf(begun.map(({ account }) => account))
    const newestOf = new Map(newest.map((each) => [each.account, each]))
    for (const connection of begun) {
      const each = newestOf.get(connection.account)
      if (!each || connection.epoch === undefined || connection.isClosing) continue
      this.#connections.judge(connection, each)
      // The store went back to an older state, so the account's next connection could get the same number.
      if (each.epoch < connection.epoch) connection.close('restart')
    }
  }
}
