// One call: its peer, the keys of its media, and what is signalled for it. When what is done is decided in `calls.ts`.
import { type CallSignalFields, type CallSignalType, deriveCallMediaKey } from '@sotto/crypto'
import { type AliasId, callEndpoints, type IceConfig } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type { Device } from '../device.ts'
import { Turns } from '../turns.ts'
import {
  type Description,
  describe,
  hasStatus,
  readCandidate,
  readDescription,
  readStatus,
  writeStatus,
} from './call-fields.ts'
import type {
  CallCandidate,
  CallPeer,
  CallPeerOptions,
  CallTrackKind,
  OpenCallPeer,
  SentMedia,
} from './call-peer.ts'
import type { CallSignals, OutgoingSignal } from './call-signals.ts'

/** Candidates kept of either side before the call has begun. A browser has a few; the relay keeps as many. */
const MAX_CANDIDATES = 64
/** The next epoch is told this long before it begins, so that the other side has its keys by then. */
const EPOCH_NOTICE_MS = 1000

/** What all calls of a client have in common. */
export interface CallSurroundings {
  readonly device: Device
  readonly signals: CallSignals
  readonly openPeer: OpenCallPeer
  readonly relayOnly: boolean
}

/** What a call tells. Nothing once it is closed. */
export interface CallListener {
  readonly onMedia: CallPeerOptions['onMedia']
  readonly onChange: () => void
  /** It cannot go on. */
  readonly onFailed: (error: unknown) => void
}

/** Who calls whom. */
export interface CallParties {
  readonly id: string
  readonly conversationId: string
  readonly isCaller: boolean
  /** The alias this side goes by in this call, even if it gets another meanwhile: keys are made of it. */
  readonly ownAlias: AliasId
}

/** One call. */
export class OneCall {
  readonly parties: CallParties
  /** What to send. */
  stream: MediaStream | undefined
  /** What the other side sends, once it is connected. */
  theirStream: MediaStream | undefined
  theirMedia: SentMedia = { audio: false, video: false }
  ownMedia: SentMedia = { audio: false, video: false }
  readonly #around: CallSurroundings
  readonly #listener: CallListener
  readonly #turns = new Turns()
  #offer: Description | undefined
  #theirAlias: string | undefined
  #ownEpoch = 1
  #theirEpoch = 0
  #peer: CallPeer | undefined
  #isClosed = false
  /** What the other side may not have got, should this side have been without a connection. */
  #log: OutgoingSignal[] = []
  #isDescribed = false
  readonly #candidatesToSend: CallCandidate[] = []
  readonly #candidatesToTake: CallCandidate[] = []

  constructor(around: CallSurroundings, parties: CallParties, listener: CallListener) {
    this.#around = around
    this.parties = parties
    this.#listener = listener
  }

  /** A call that was offered, or undefined where the offer has no description. */
  static offered(
    around: CallSurroundings,
    parties: CallParties,
    { from, fields }: { readonly from: string; readonly fields: CallSignalFields },
    listener: CallListener,
  ): OneCall | undefined {
    const offer = readDescription('offer', fields)
    if (!offer) return undefined
    const call = new OneCall(around, parties, listener)
    call.#offer = offer
    call.#theirAlias = from
    call.theirMedia = offer.media
    return call
  }

  /** Offers the call. @throws ClientError `NETWORK`, `UNSUPPORTED`, `KEY_CHANGED`, … */
  makeOffer(): Promise<void> {
    return this.#do(async () => {
      const peer = await this.#open()
      const sdp = await peer.createOffer()
      await peer.sendUnder(this.#ownEpoch)
      if (this.#isClosed) return
      await this.#describe('offer', sdp)
    })
  }

  /** Answers the call that was offered. @throws ClientError as `makeOffer` */
  makeAnswer(): Promise<void> {
    return this.#do(async () => {
      const offer = this.#offer
      if (!offer) throw new ClientError('INVALID_ARGUMENT', 'nothing was offered')
      const peer = await this.#open()
      const sdp = await peer.createAnswer(offer.sdp)
      this.#theirEpoch = offer.epoch
      peer.expect(this.theirMedia)
      await peer.receiveUnder(offer.epoch)
      await peer.sendUnder(this.#ownEpoch)
      for (const candidate of this.#candidatesToTake.splice(0)) await peer.addCandidate(candidate)
      if (this.#isClosed) return
      await this.#describe('answer', sdp)
    })
  }

  /** Takes the answer, or answers false where it is none. */
  takeAnswer(from: string, fields: CallSignalFields): boolean {
    const answer = readDescription('answer', fields)
    if (!answer) return false
    this.#theirAlias = from
    this.theirMedia = answer.media
    this.#theirEpoch = answer.epoch
    this.#doOrFail(async (peer) => {
      await peer.takeAnswer(answer.sdp)
      peer.expect(this.theirMedia)
      await peer.receiveUnder(answer.epoch)
    })
    return true
  }

  /** Takes a candidate, or what the other side says of how it sends. */
  takeIce(fields: CallSignalFields): void {
    const candidate = readCandidate(fields)
    if (candidate) {
      if (this.#peer) this.#doOrFail((peer) => peer.addCandidate(candidate))
      else if (this.#candidatesToTake.length < MAX_CANDIDATES) this.#candidatesToTake.push(candidate)
    }
    if (hasStatus(fields)) this.#takeStatus(fields)
  }

  /** Sends something else, or nothing, of a kind. Told to the other side. */
  async setTrack(kind: CallTrackKind, track: MediaStreamTrack | null): Promise<void> {
    await this.#do(() => this.#peer?.setTrack(kind, track))
    this.ownMedia = { ...this.ownMedia, [kind]: track !== null }
    this.#sendStatus()
    this.#listener.onChange()
  }

  /** Sends what the other side may have missed once more. */
  sendAgain(): void {
    for (const signal of this.#log) this.#send(signal)
  }

  /** The media is there: what led to it need not be sent again. */
  settle(): void {
    this.#log = [this.#signal('call_ice', this.#status())]
  }

  /** The call's last signal; to be sent by others, as the call is over. */
  lastSignal(type: 'call_hangup' | 'call_reject', fields: CallSignalFields = {}): OutgoingSignal {
    return this.#signal(type, fields)
  }

  /** Ends the media. Nothing is told any more. */
  close(): void {
    this.#isClosed = true
    this.#log = []
    this.#peer?.close()
  }

  async #open(): Promise<CallPeer> {
    const { device, openPeer, relayOnly } = this.#around
    const config = await device
      .needEngine()
      .http.call(callEndpoints.iceConfig, { query: relayOnly ? { mode: 'relay' } : {} })
    if (this.#isClosed) throw new ClientError('ABORTED', 'the call is over')
    if (relayOnly && config.ice_servers.length === 0)
      throw new ClientError('UNSUPPORTED', 'the relay has no TURN server to send media through')
    const ifOpen =
      <A extends unknown[]>(run: (...args: A) => void) =>
      (...args: A): void => {
        if (!this.#isClosed) run(...args)
      }
    this.#peer = openPeer({
      iceServers: config.ice_servers.map(iceServerOf),
      relayOnly: relayOnly || config.ice_transport_policy === 'relay',
      stream: this.stream,
      keyOf: (side, mid, epoch) => this.#keyOf(side, mid, epoch),
      after: (ms, run) => device.platform.clock.after(ms, run),
      onCandidate: ifOpen((candidate) => this.#sendCandidate(candidate)),
      onMedia: ifOpen((event) => this.#listener.onMedia(event)),
      onStream: ifOpen((stream) => {
        this.theirStream = stream
        this.#listener.onChange()
      }),
      onEpochOver: ifOpen((lost) => this.#nextEpoch(lost)),
      onError: ifOpen((error) => this.#listener.onFailed(error)),
    })
    const has = (tracks: readonly unknown[] | undefined): boolean => (tracks?.length ?? 0) > 0
    this.ownMedia = { audio: has(this.stream?.getAudioTracks()), video: has(this.stream?.getVideoTracks()) }
    return this.#peer
  }

  async #describe(type: 'offer' | 'answer', sdp: string): Promise<void> {
    const fields = describe(type, { sdp, epoch: this.#ownEpoch, media: this.ownMedia })
    const signal = this.#signal(`call_${type}`, fields)
    this.#log.push(signal)
    const isSent = await this.#around.signals.send(signal)
    if (!isSent && type === 'offer') throw new ClientError('NETWORK', 'there is no connection to call by')
    this.#isDescribed = true
    for (const candidate of this.#candidatesToSend.splice(0)) this.#sendCandidate(candidate)
  }

  #sendCandidate(candidate: CallCandidate): void {
    if (!this.#isDescribed) {
      this.#candidatesToSend.push(candidate)
      return
    }
    const signal = this.#signal('call_ice', { ...candidate })
    if (this.#log.length < MAX_CANDIDATES) this.#log.push(signal)
    this.#send(signal)
  }

  #takeStatus(fields: CallSignalFields): void {
    const { epoch, media } = readStatus(fields)
    this.theirMedia = media
    this.#peer?.expect(media)
    if (this.#theirEpoch > 0 && epoch > this.#theirEpoch) {
      this.#theirEpoch = epoch
      this.#doOrFail((peer) => peer.receiveUnder(epoch))
    }
    if (fields.renew === true) this.#nextEpoch(false)
    this.#listener.onChange()
  }

  /** Begins the next epoch: at once where the keys before cannot be used any more. */
  #nextEpoch(lost: boolean): void {
    this.#ownEpoch += 1
    const epoch = this.#ownEpoch
    this.#sendStatus(lost)
    const begin = (): void => {
      // Unless the one after it has begun meanwhile.
      if (epoch === this.#ownEpoch) this.#doOrFail((peer) => peer.sendUnder(epoch))
    }
    if (lost) begin()
    else this.#around.device.platform.clock.after(EPOCH_NOTICE_MS, begin)
  }

  #sendStatus(renew = false): void {
    const signal = this.#signal('call_ice', { ...this.#status(), ...(renew ? { renew } : {}) })
    // The latest is all that has to arrive.
    this.#log = [...this.#log.filter(({ fields }) => fields.sdp !== undefined || !hasStatus(fields)), signal]
    this.#send(signal)
  }

  #status(): CallSignalFields {
    return writeStatus({ epoch: this.#ownEpoch, media: this.ownMedia })
  }

  #signal(type: CallSignalType, fields: CallSignalFields): OutgoingSignal {
    const { id, conversationId, ownAlias } = this.parties
    return { type, conversationId, callId: id, from: ownAlias, fields }
  }

  /** Sends what is sent again where there is no connection now. */
  #send(signal: OutgoingSignal): void {
    this.#around.signals.send(signal).catch((error: unknown) => this.#fail(error))
  }

  #keyOf(side: 'own' | 'theirs', mid: string, epoch: number): Promise<Uint8Array> {
    const { sessions } = this.#around.device.needEngine()
    const { id: callId, conversationId, ownAlias } = this.parties
    const senderAlias = side === 'own' ? ownAlias : this.#theirAlias
    if (senderAlias === undefined) throw new ClientError('INVALID_ARGUMENT', 'nobody has answered yet')
    const sessionKey = sessions.keyOf(sessions.get(conversationId))
    return deriveCallMediaKey({ sessionKey, callId, senderAlias, mid, epoch })
  }

  /** Each after what was begun before, and not at all once the call is closed. */
  #do(run: () => Promise<void> | undefined): Promise<void> {
    return this.#turns.take(async () => {
      try {
        if (!this.#isClosed) await run()
      } catch (error) {
        // What fails because the peer was closed under it has not failed.
        if (!this.#isClosed) throw error
      }
    })
  }

  #doOrFail(run: (peer: CallPeer) => Promise<void>): void {
    this.#do(() => this.#peer && run(this.#peer)).catch((error: unknown) => this.#fail(error))
  }

  #fail(error: unknown): void {
    if (!this.#isClosed) this.#listener.onFailed(error)
  }
}

function iceServerOf({ urls, username, credential }: IceConfig['ice_servers'][number]): RTCIceServer {
  return {
    urls,
    ...(username === undefined ? {} : { username }),
    ...(credential === undefined ? {} : { credential }),
  }
}
