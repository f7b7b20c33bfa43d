// One call: its peer, the keys of its media, and its signals. `call-course.ts` decides when each of them is
// used.
import { type CallSignalFields, deriveCallMediaKey } from '@sotto/crypto'
import { ClientError } from '../client-error.ts'
import { deferred, SerialQueue } from '../platform/platform.ts'
import { CallEpochs } from './call-epochs.ts'
import {
  type Description,
  describe,
  hasStatus,
  readCandidate,
  readDescription,
  readRequests,
  readRestart,
  readStatus,
  writeStatus,
} from './call-fields.ts'
import type { CallLine } from './call-line.ts'
import {
  type CallCandidate,
  type CallPeer,
  type CallPeerOptions,
  type CallTrackKind,
  MAX_CANDIDATES,
  type OpenCallPeer,
  type SentMedia,
} from './call-peer.ts'
import type { OutgoingSignal } from './carried-calls.ts'
import { MediaRestarts } from './media-restarts.ts'
import { type CallParties, OwnSignals } from './own-signals.ts'

/** The next epoch is announced this long before it begins, so that the other side has its keys by then. */
const EPOCH_NOTICE_MS = 1000

/** What all calls of a client share. */
export interface CallSurroundings {
  readonly line: CallLine
  readonly openPeer: OpenCallPeer
  readonly relayOnly: boolean
}

/** Receives the events of a call. None come after the call is closed. */
export interface CallListener {
  readonly onMedia: CallPeerOptions['onMedia']
  readonly onChange: () => void
  /** The call cannot continue. */
  readonly onFailed: (error: unknown) => void
}

export class OneCall {
  readonly parties: CallParties
  /** The stream that this side sends. */
  stream: MediaStream | undefined
  /** The stream that the other side sends, once the peer has it. */
  theirStream: MediaStream | undefined
  theirMedia: SentMedia = { audio: false, video: false }
  ownMedia: SentMedia = { audio: false, video: false }
  readonly #around: CallSurroundings
  readonly #listener: CallListener
  readonly #own: OwnSignals
  readonly #epochs = new CallEpochs()
  readonly #restarts: MediaRestarts
  readonly #queue = new SerialQueue()
  #offer: Description | undefined
  /** Set once the other side has offered or answered. */
  #theirAlias: string | undefined
  /** Candidates that arrived before the peer was created. */
  readonly #earlyCandidates: CallCandidate[] = []
  /** How many candidates the other side has sent since its latest description. */
  #candidateCount = 0
  /** Whether the media connection is broken and this side has received no restart for it yet. */
  #isInterrupted = false
  #peer: CallPeer | undefined
  /** In a call under version 3, what the keys of its media come from. Erased when it ends. */
  #secrets: Awaited<ReturnType<CallLine['mediaSecrets']>> | undefined
  #isClosed = false
  readonly #closed = deferred<void>()

  constructor(around: CallSurroundings, parties: CallParties, listener: CallListener) {
    this.#around = around
    this.parties = parties
    this.#listener = listener
    this.#own = new OwnSignals(around.line, parties, (error) => this.#fail(error))
    this.#restarts = new MediaRestarts(around.line.clock)
  }

  /** A call that a contact offered; undefined if the offer has no description. */
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
    call.#takeDescription(from, offer)
    return call
  }

  /** Offers the call. @throws ClientError `NETWORK`, `UNSUPPORTED`, `KEY_CHANGED`, … */
  makeOffer(): Promise<void> {
    return this.#do(async () => {
      const peer = await this.#open()
      const sdp = await peer.createOffer()
      await this.#epochs.send(peer)
      if (this.#isClosed) return
      const isSent = await this.#own.describe('call_offer', this.#description('offer', sdp))
      if (!isSent) throw new ClientError('NETWORK', 'there is no connection to the relay')
    })
  }

  /** Answers the call that was offered. @throws ClientError as `makeOffer` */
  makeAnswer(): Promise<void> {
    return this.#do(async () => {
      const offer = this.#offer
      if (!offer) throw new ClientError('INVALID_ARGUMENT', 'nothing was offered')
      const peer = await this.#open()
      const sdp = await peer.createAnswer(offer.sdp)
      peer.expect(this.theirMedia)
      await this.#epochs.receive(peer)
      await this.#epochs.send(peer)
      for (const candidate of this.#earlyCandidates.splice(0)) await peer.addCandidate(candidate)
      if (this.#isClosed) return
      await this.#own.describe('call_answer', this.#description('answer', sdp))
    })
  }

  /** Applies the answer to this call's offer. @returns false if the signal has no description */
  takeAnswer(from: string, fields: CallSignalFields): boolean {
    const answer = readDescription('answer', fields)
    if (!answer) return false
    this.#takeDescription(from, answer)
    this.#doOrFail(async (peer) => {
      await peer.takeAnswer(answer.sdp)
      peer.expect(this.theirMedia)
      await this.#epochs.receive(peer)
    })
    return true
  }

  /** Applies a `call_ice`: a candidate, a status of the other side, or a restart of the media connection. */
  takeIce(fields: CallSignalFields): void {
    const candidate = readCandidate(fields)
    if (candidate) this.#takeCandidate(candidate)
    if (hasStatus(fields)) this.#takeStatus(fields)
    const restart = readRestart(fields)
    if (restart !== undefined) this.#takeRestart(restart, fields)
  }

  /** The statistics of the connection; undefined before there is one. */
  async stats(): Promise<RTCStatsReport | undefined> {
    return this.#peer?.stats?.()
  }

  /** Sends another track of a kind, or none, and notifies the other side. */
  async setTrack(kind: CallTrackKind, track: MediaStreamTrack | null): Promise<void> {
    await this.#do(() => this.#peer?.setTrack(kind, track))
    this.ownMedia = { ...this.ownMedia, [kind]: track !== null }
    this.#own.sendStatus(this.#status())
    this.#listener.onChange()
  }

  /** Restarts a broken media connection. The caller offers the restart, the callee requests one. */
  restartMedia(): void {
    this.#isInterrupted = true
    if (this.parties.isCaller) this.#offerRestart()
    else this.#own.sendStatus(this.#status())
  }

  /** Sends the signals again that the other side may have missed. */
  sendAgain(): void {
    // The relay was disconnected, so the network may have been down, and candidates found then may be
    // useless.
    if (this.#isInterrupted && this.parties.isCaller) this.#offerRestart()
    else this.#own.repeat()
  }

  /** The media are connected: the signals that led to it are not sent again. */
  settle(): void {
    this.#isInterrupted = false
    this.#own.settle(this.#status())
  }

  /** Makes the call's last signal. `LastSignals` sends it, as the call has ended. */
  lastSignal(type: 'call_hangup' | 'call_reject', fields: CallSignalFields = {}): OutgoingSignal {
    return this.#own.make(type, fields)
  }

  /** Ends the media. The listener is not called any more. */
  close(): void {
    this.#isClosed = true
    this.#closed.resolve()
    this.#own.end()
    this.#peer?.close()
    this.#eraseSecrets()
    // An ended call is still shown to the application, but its media are not needed.
    this.#peer = undefined
    this.stream = undefined
  }

  async #open(): Promise<CallPeer> {
    const { line, openPeer, relayOnly } = this.#around
    const ice = await line.iceServers(relayOnly)
    const { id, conversationId, callEpoch } = this.parties
    if (callEpoch !== undefined) this.#secrets = await line.mediaSecrets(conversationId, id, callEpoch)
    if (this.#isClosed) {
      this.#eraseSecrets()
      throw new ClientError('ABORTED', 'the call is over')
    }
    const ifOpen =
      <A extends unknown[]>(run: (...args: A) => void) =>
      (...args: A): void => {
        if (!this.#isClosed) run(...args)
      }
    this.#peer = openPeer({
      iceServers: ice.servers,
      relayOnly: ice.relayOnly,
      stream: this.stream,
      keyOf: (side, mid, epoch) => this.#keyOf(side, mid, epoch),
      after: (ms, run) => line.clock.after(ms, run),
      onCandidate: ifOpen((candidate) => this.#own.sendCandidate(candidate)),
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

  #takeDescription(from: string, { media, epoch }: Description): void {
    this.#theirAlias = from
    this.theirMedia = media
    this.#epochs.setTheirs(epoch)
  }

  #takeCandidate(candidate: CallCandidate): void {
    // For each candidate the browser tries an address that the other side chose, so their number is limited.
    if (this.#candidateCount >= MAX_CANDIDATES) return
    this.#candidateCount += 1
    if (this.#peer) this.#doOrFail((peer) => peer.addCandidate(candidate))
    else this.#earlyCandidates.push(candidate)
  }

  #takeStatus(fields: CallSignalFields): void {
    const { epoch, media } = readStatus(fields)
    const { renew, reoffer } = readRequests(fields)
    this.theirMedia = media
    this.#peer?.expect(media)
    this.#epochs.setTheirs(epoch)
    if (this.#theirAlias !== undefined) {
      this.#doOrFail((peer) => this.#epochs.receive(peer))
      if (reoffer && this.parties.isCaller) this.#offerRestart()
    }
    if (renew) this.#nextEpoch(false)
    this.#listener.onChange()
  }

  /** Begins the next epoch. It begins at once if the previous keys cannot be used any more. */
  #nextEpoch(lost: boolean): void {
    const epoch = this.#epochs.next(lost)
    this.#own.sendStatus(this.#status())
    const begin = (): void => {
      // Unless a later epoch has begun meanwhile.
      if (epoch === this.#epochs.own) this.#doOrFail((peer) => this.#epochs.send(peer))
    }
    if (lost) begin()
    else this.#around.line.clock.after(EPOCH_NOTICE_MS, begin)
  }

  #offerRestart(): void {
    // Without a connection to the relay, the restart waits for one.
    if (!this.#around.line.isConnected) return
    const restart = this.#restarts.begin()
    if (restart !== undefined)
      this.#describeRestart('offer', restart, (peer, servers) => peer.offerRestart(servers))
  }

  #takeRestart(restart: number, fields: CallSignalFields): void {
    const { isCaller } = this.parties
    const description = readDescription(isCaller ? 'answer' : 'offer', fields)
    if (!description?.epoch) return
    const { sdp } = description
    if (isCaller ? !this.#restarts.takeAnswer(restart) : !this.#restarts.takeOffer(restart)) return
    this.#candidateCount = 0
    if (isCaller) return this.#doOrFail((peer) => peer.takeAnswer(sdp))
    this.#isInterrupted = false
    this.#describeRestart('answer', restart, (peer, servers) => peer.answerRestart(sdp, servers))
  }

  #describeRestart(
    type: 'offer' | 'answer',
    restart: number,
    make: (peer: CallPeer, servers?: readonly RTCIceServer[]) => Promise<string>,
  ): void {
    const { line, relayOnly } = this.#around
    this.#doOrFail(async (peer) => {
      if (!this.#restarts.isLatest(restart)) return
      // The first credentials may have expired. If the relay gives no new ones, the old ones stay in use.
      const ice = await line.iceServers(relayOnly).catch(() => undefined)
      if (this.#isClosed) return
      this.#own.holdCandidates()
      const sdp = await make(peer, ice?.servers)
      if (!this.#isClosed) await this.#own.describe('call_ice', this.#description(type, sdp, restart))
    })
  }

  #description(type: 'offer' | 'answer', sdp: string, restart?: number): CallSignalFields {
    return { ...describe(type, sdp, restart), ...this.#status() }
  }

  #status(): CallSignalFields {
    const requests = {
      renew: this.#epochs.needsRenewal,
      reoffer: this.#isInterrupted && !this.parties.isCaller,
    }
    return writeStatus({ epoch: this.#epochs.own, media: this.ownMedia }, requests)
  }

  async #keyOf(side: 'own' | 'theirs', mid: string, epoch: number): Promise<Uint8Array> {
    const { id: callId, conversationId, ownAlias, callEpoch } = this.parties
    const senderAlias = side === 'own' ? ownAlias : this.#theirAlias
    if (senderAlias === undefined) throw new ClientError('INVALID_ARGUMENT', 'nobody has answered yet')
    const track = { callId, senderAlias, mid, epoch }
    if (callEpoch === undefined) return this.#around.line.mediaKey({ ...track, conversationId })
    const sessionKey = this.#secrets?.[side]
    if (!sessionKey) throw new ClientError('ABORTED', 'the call is over')
    return deriveCallMediaKey({ ...track, sessionKey })
  }

  #eraseSecrets(): void {
    for (const secret of Object.values(this.#secrets ?? {})) secret.fill(0)
    this.#secrets = undefined
  }

  /**
   * Runs the steps of a call one after another. After `close` none is run, and none is waited for: a browser
   * never ends the step that a closed connection was in. An error that comes from closing is no failure.
   */
  #do(run: () => Promise<void> | undefined): Promise<void> {
    const step = this.#queue.run(async () => {
      if (!this.#isClosed) await run()
    })
    return Promise.race([this.#closed.promise, step])
  }

  #doOrFail(run: (peer: CallPeer) => Promise<void>): void {
    this.#do(() => this.#peer && run(this.#peer)).catch((error: unknown) => this.#fail(error))
  }

  #fail(error: unknown): void {
    if (!this.#isClosed) this.#listener.onFailed(error)
  }
}
