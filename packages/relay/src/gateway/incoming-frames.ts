// What one connection receives: counts bytes, decodes frames, answers pings and faults, and hands the other
// frames to the features as fast as the account's rates allow.
import {
  type ClientFrame,
  type Decoded,
  decodeClientFrame,
  encodeFrame,
  type FrameFault,
  isCallFrame,
  type Limits,
  ProtocolError,
} from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import type { RelayMetrics } from '../operations/relay-metrics.ts'
import type { Connection } from './connection.ts'
import { errorFrame, type FrameNames } from './error-frame.ts'
import type { CallSignal, PlainFrame } from './frame-handlers.ts'
import type { AccountRates } from './frame-rates.ts'
import type { FrameHolder, HeldFrames } from './held-frames.ts'
import { namesAtStart, refusalOfSize } from './oversized-frame.ts'
import { type Pace, PacedFrames, type QueueOwner } from './paced-frames.ts'

/** What all connections share. */
export interface IncomingParts {
  readonly held: HeldFrames
  readonly clock: Clock
  readonly limits: Limits
  readonly metrics: RelayMetrics
  /** A valid frame arrived and was decoded. Called before it waits for the rate of its type. */
  readonly decoded: (connection: Connection) => void
  readonly carryOut: (frame: PlainFrame, connection: Connection) => void
  readonly carryOutCall: (signal: CallSignal, connection: Connection) => void
}

type Data = string | Buffer

/** The memory that a waiting frame takes in addition to its text. */
const FRAME_OVERHEAD_BYTES = 512
/** A frame up to this size is looked at even while larger ones wait to be decoded: it may be a ping. */
const MOST_PING_BYTES = 128
const NOT_TEXT: Decoded<ClientFrame> = { fault: { code: 'INVALID_JSON' } }

export class IncomingFrames implements FrameHolder, QueueOwner {
  /** Frames of all types, as they arrived. They wait only if the account sends too many bytes. */
  static readonly #arrivalPace: Pace<Data, IncomingFrames> = {
    take: (data, { rates }) => rates.takeBytes(data),
    bytesOf: (data) => memoryOf(data),
    carryOut: (data, frames) => frames.#decode(data),
  }
  static readonly #framePace: Pace<PlainFrame, IncomingFrames> = {
    take: ({ type }, { rates }) => rates.take(type),
    bytesOf: (frame) =>
      FRAME_OVERHEAD_BYTES +
      (frame.type === 'msg' ? frame.payload.length + (frame.group_info?.length ?? 0) : 0),
    carryOut: (frame, { connection, parts }) => parts.carryOut(frame, connection),
  }
  static readonly #callPace: Pace<CallSignal, IncomingFrames> = {
    take: ({ text }, { rates }) => rates.takeCall(text),
    bytesOf: ({ text, frame }) => memoryOf(text) + frame.payload.length,
    carryOut: (signal, { connection, parts }) => parts.carryOutCall(signal, connection),
  }

  readonly connection: Connection
  readonly rates: AccountRates
  readonly parts: IncomingParts
  readonly #arrivals: PacedFrames<Data, IncomingFrames>
  readonly #frames: PacedFrames<PlainFrame, IncomingFrames>
  /**
   * Created for the first call frame. Call frames have a separate queue, so calls and messages never wait for
   * each other.
   */
  #calls: PacedFrames<CallSignal, IncomingFrames> | undefined
  #heldBytes = 0
  #badFrames = 0

  constructor(connection: Connection, rates: AccountRates, parts: IncomingParts) {
    this.connection = connection
    this.rates = rates
    this.parts = parts
    this.#arrivals = new PacedFrames(IncomingFrames.#arrivalPace, this)
    this.#frames = new PacedFrames(IncomingFrames.#framePace, this)
  }

  /** A frame arrived. */
  received(data: Data): void {
    if (this.#arrivals.isWaiting && isPing(data)) this.#decode(data)
    else if (!this.#arrivals.push(data)) this.giveWay()
  }

  /** The bytes of the frames that wait. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  hold(bytes: number): boolean {
    this.#heldBytes += bytes
    this.parts.held.add(this, bytes)
    return this.parts.held.allows(this.#heldBytes)
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes
    this.parts.held.remove(this, bytes)
  }

  giveWay(): void {
    this.stop()
    this.connection.close('overload')
  }

  /** Drops the waiting frames. */
  stop(): void {
    this.#arrivals.stop()
    this.#frames.stop()
    this.#calls?.stop()
    this.release(this.#heldBytes)
  }

  #decode(data: Data): void {
    const oversized = refusalOfSize(data, this.parts.limits.frameBytes)
    if (oversized) {
      if (this.rates.allowsAtOnce()) this.#answer(oversized, namesAtStart(data))
      else this.giveWay()
      return
    }
    const decoded = typeof data === 'string' ? decodeClientFrame(data) : NOT_TEXT
    // Frames that are answered at once never wait for a rate of their type, so a client that floods the relay
    // with them is disconnected.
    const isAnsweredAtOnce = decoded.fault !== undefined || decoded.frame.type === 'ping'
    if (isAnsweredAtOnce && !this.rates.allowsAtOnce()) {
      this.giveWay()
      return
    }
    if (decoded.fault) {
      this.#refuse(decoded.fault)
      return
    }
    const { frame } = decoded
    this.parts.metrics.framesReceived.count(frame.type)
    this.parts.decoded(this.connection)
    if (frame.type === 'ping') {
      this.connection.send(encodeFrame({ type: 'pong', at: this.parts.clock.now() }))
      return
    }
    const isAccepted = isCallFrame(frame)
      ? this.#callQueue().push({ type: frame.type, frame, text: data.toString() })
      : this.#frames.push(frame)
    if (!isAccepted) this.giveWay()
  }

  #refuse(fault: FrameFault): void {
    const { code, field, rule, id, conv_id, call_id } = fault
    this.#answer(new ProtocolError(code, { field, rule }), { id, conv_id, call_id })
    if (code !== 'INVALID_JSON') return
    this.#badFrames += 1
    if (this.#badFrames < this.parts.limits.badFrames) return
    this.stop()
    this.connection.close('badFrames')
  }

  #answer(error: ProtocolError, names: FrameNames): void {
    this.parts.metrics.errors.count(error.code)
    this.connection.send(encodeFrame(errorFrame(error, names)))
  }

  #callQueue(): PacedFrames<CallSignal, IncomingFrames> {
    this.#calls ??= new PacedFrames(IncomingFrames.#callPace, this)
    return this.#calls
  }
}

function memoryOf(data: Data): number {
  const isOneByteEach = typeof data !== 'string' || Buffer.byteLength(data) === data.length
  return FRAME_OVERHEAD_BYTES + data.length * (isOneByteEach ? 1 : 2)
}

function isPing(data: Data): boolean {
  return data.length <= MOST_PING_BYTES && decodeClientFrame(data.toString()).frame?.type === 'ping'
}
