// A call's media in browsers: one RTCPeerConnection. A worker encrypts every frame; without it nothing is
// sent.
import { ClientError } from '../client-error.ts'
import { deferred } from '../platform/platform.ts'
import type {
  CallCandidate,
  CallPeer,
  CallPeerOptions,
  CallTrackKind,
  OpenCallPeer,
  SentMedia,
} from './call-peer.ts'
import type { FrameWay, TransformOptions, WorkerKey, WorkerNotice } from './call-worker-messages.ts'
import { LinkQuality, type LinkSample } from './link-quality.ts'

/** How often the quality of the link is measured, in milliseconds. */
const SAMPLE_EVERY_MS = 2000
/**
 * How long a call waits for the other side's hangup after that side has closed the media connection, in
 * milliseconds. The hangup goes through the relay, and says more.
 */
const HANGUP_WITHIN_MS = 10_000
/** How often a failed worker is started again. */
const MAX_RESTARTS = 3
/** A worker that sends nothing for this long has failed, in milliseconds. */
const START_WITHIN_MS = 10_000
/**
 * Video codecs whose frames can be encrypted completely, the best first. VP9's packets describe their content
 * outside the frame; in VP8 only the decoder reads the frame. For H.264 and AV1 the browser reads the frame
 * to make the packets, so encrypted frames do not arrive.
 */
const VIDEO_CODECS = ['video/vp9', 'video/vp8']
const KINDS: readonly CallTrackKind[] = ['audio', 'video']
/** The maximum of media sections in an offer: audio, video, and a few of other clients, which are refused. */
const MAX_SECTIONS = 8

/** Options of `webRtc`. */
export interface WebRtcOptions {
  /**
   * Starts the worker that encrypts. For bundlers that do not find its script: `() => new
   * Worker('/assets/call-worker.js', { type: 'module' })` with `@sotto/client/call-worker` as its source.
   */
  readonly startWorker?: () => Worker
  /** A key is replaced after this many frames of a track. The default is 2^31; a key may encrypt 2^32. */
  readonly framesPerEpoch?: number
}

/**
 * Carries the media of calls in a browser: `new Calls(client, webRtc())`. Needs `RTCRtpScriptTransform`
 * (Chromium 141, Firefox 117, Safari 15.4). Without it, calls fail with `UNSUPPORTED`, because media are
 * never sent unencrypted.
 */
export function webRtc({
  startWorker = () => new Worker(new URL('./call-worker.js', import.meta.url), { type: 'module' }),
  framesPerEpoch = 2 ** 31,
}: WebRtcOptions = {}): OpenCallPeer {
  return (options) => {
    if (typeof RTCPeerConnection !== 'function' || typeof RTCRtpScriptTransform !== 'function')
      throw new ClientError('UNSUPPORTED', 'this browser cannot encrypt the media of calls')
    return new WebRtcPeer(options, startWorker, framesPerEpoch)
  }
}

class WebRtcPeer implements CallPeer {
  readonly #options: CallPeerOptions
  readonly #startWorker: () => Worker
  readonly #framesPerEpoch: number
  readonly #connection: RTCPeerConnection
  readonly #transceivers = new Map<CallTrackKind, RTCRtpTransceiver>()
  readonly #stream = new MediaStream()
  readonly #quality = new LinkQuality()
  readonly #started = deferred<void>()
  #worker: Worker | undefined
  #restarts = 0
  #isStarted = false
  #hasConnected = false
  /** The transport of all media, once it was connected. Some browsers do not show it. */
  #transport: RTCDtlsTransport | undefined
  #isClosed = false
  #stopSampling: () => void = () => {}
  #stopWaiting: () => void = () => {}
  #stopWaitingForHangup: () => void = () => {}

  constructor(options: CallPeerOptions, startWorker: () => Worker, framesPerEpoch: number) {
    this.#options = options
    this.#startWorker = startWorker
    this.#framesPerEpoch = framesPerEpoch
    this.#connection = new RTCPeerConnection(this.#configuration(options.iceServers))
    this.#connection.addEventListener('icecandidate', ({ candidate }) => {
      if (candidate?.candidate) options.onCandidate(plainCandidate(candidate))
    })
    this.#connection.addEventListener('connectionstatechange', () => this.#onState())
    // This library does not encrypt data channels, so it closes every one that the other side opens.
    this.#connection.addEventListener('datachannel', ({ channel }) => channel.close())
    // The offer or answer that waits for the worker gets the error. Without one it needs no report.
    this.#started.promise.catch(() => {})
    this.#start()
  }

  async createOffer(): Promise<string> {
    await this.#started.promise
    // Always both kinds, so that tracks can be added later without another offer.
    for (const kind of KINDS)
      this.#take(kind, this.#connection.addTransceiver(kind, { direction: 'sendrecv' }))
    await this.#addTracks()
    await this.#connection.setLocalDescription()
    this.#options.onStream(this.#stream)
    return this.#description()
  }

  async createAnswer(offer: string): Promise<string> {
    await this.#started.promise
    await this.#takeOffer(offer)
    await this.#addTracks()
    await this.#connection.setLocalDescription()
    this.#options.onStream(this.#stream)
    return this.#description()
  }

  async takeAnswer(answer: string): Promise<void> {
    await this.#connection.setRemoteDescription({ type: 'answer', sdp: answer })
  }

  async offerRestart(iceServers?: readonly RTCIceServer[]): Promise<string> {
    this.#useServers(iceServers)
    await this.#connection.setLocalDescription(await this.#connection.createOffer({ iceRestart: true }))
    return this.#description()
  }

  async answerRestart(offer: string, iceServers?: readonly RTCIceServer[]): Promise<string> {
    this.#useServers(iceServers)
    await this.#takeOffer(offer)
    await this.#connection.setLocalDescription()
    return this.#description()
  }

  async addCandidate(candidate: CallCandidate): Promise<void> {
    // A candidate that the browser cannot use is skipped.
    await this.#connection.addIceCandidate({ ...candidate }).catch(() => {})
  }

  sendUnder(epoch: number): Promise<void> {
    return this.#useKeys('send', epoch)
  }

  receiveUnder(epoch: number): Promise<void> {
    return this.#useKeys('receive', epoch)
  }

  expect(media: SentMedia): void {
    // A `video` element plays no sound while it waits for the first picture of a video track. So a track that
    // the other side does not send is removed.
    for (const [kind, { receiver }] of this.#transceivers) {
      if (media[kind]) this.#stream.addTrack(receiver.track)
      else this.#stream.removeTrack(receiver.track)
    }
  }

  async setTrack(kind: CallTrackKind, track: MediaStreamTrack | null): Promise<void> {
    await this.#transceivers.get(kind)?.sender.replaceTrack(track)
  }

  stats(): Promise<RTCStatsReport> {
    return this.#connection.getStats()
  }

  close(): void {
    this.#isClosed = true
    this.#stopSampling()
    this.#stopWaiting()
    this.#stopWaitingForHangup()
    this.#connection.close()
    this.#worker?.terminate()
    this.#started.reject(new ClientError('ABORTED', 'the call is over'))
  }

  #configuration(iceServers: readonly RTCIceServer[]): RTCConfiguration {
    return {
      iceServers: [...iceServers],
      iceTransportPolicy: this.#options.relayOnly ? 'relay' : 'all',
      bundlePolicy: 'max-bundle',
    }
  }

  #useServers(iceServers: readonly RTCIceServer[] | undefined): void {
    if (iceServers) this.#connection.setConfiguration(this.#configuration(iceServers))
  }

  async #takeOffer(sdp: string): Promise<void> {
    // A browser allocates resources for each section, so their number is limited.
    if ((sdp.match(/^m=/gm)?.length ?? 0) > MAX_SECTIONS)
      throw new ClientError('BAD_REPLY', `the other side offers more than ${MAX_SECTIONS} kinds of media`)
    await this.#connection.setRemoteDescription({ type: 'offer', sdp })
    for (const transceiver of this.#connection.getTransceivers()) {
      const { kind } = transceiver.receiver.track
      const known = isKind(kind) ? this.#transceivers.get(kind) : undefined
      if (known === transceiver) continue
      if (!isKind(kind) || known) {
        // It has no encryption, so nothing may go through it.
        transceiver.direction = 'inactive'
        continue
      }
      transceiver.direction = 'sendrecv'
      this.#take(kind, transceiver)
    }
  }

  #take(kind: CallTrackKind, transceiver: RTCRtpTransceiver): void {
    this.#transceivers.set(kind, transceiver)
    transceiver.setCodecPreferences(codecsOf(kind))
    this.#encrypt(kind, transceiver)
  }

  /** From now on all frames of this transceiver go through the worker. */
  #encrypt(kind: CallTrackKind, { sender, receiver }: RTCRtpTransceiver): void {
    const worker = this.#worker
    if (!worker) throw new ClientError('UNSUPPORTED', 'there is no worker to encrypt calls')
    const transform = (way: FrameWay): RTCRtpScriptTransform => {
      const options: TransformOptions = { way, kind, framesPerEpoch: this.#framesPerEpoch }
      return new RTCRtpScriptTransform(worker, options)
    }
    sender.transform = transform('send')
    receiver.transform = transform('receive')
  }

  // Tracks are added after the transforms: an earlier track could send a frame unencrypted.
  async #addTracks(): Promise<void> {
    const { stream } = this.#options
    await this.setTrack('audio', stream?.getAudioTracks()[0] ?? null)
    await this.setTrack('video', stream?.getVideoTracks()[0] ?? null)
  }

  async #useKeys(way: FrameWay, epoch: number): Promise<void> {
    const worker = this.#worker
    for (const [kind, { mid }] of this.#transceivers) {
      if (mid === null) continue
      const keyMaterial = await this.#options.keyOf(way === 'send' ? 'own' : 'theirs', mid, epoch)
      const key: WorkerKey = { way, kind, keyMaterial }
      // A worker that was started meanwhile must not get this key: it needs another epoch.
      if (this.#worker === worker) worker?.postMessage(key)
      keyMaterial.fill(0)
    }
  }

  #start(): void {
    let worker: Worker
    try {
      worker = this.#startWorker()
    } catch (cause) {
      return this.#giveUp(cause)
    }
    this.#worker = worker
    const restart = (): void => this.#restart(worker)
    const cancel = this.#options.after(START_WITHIN_MS, restart)
    this.#stopWaiting = cancel
    worker.addEventListener('error', restart)
    worker.addEventListener('message', ({ data }: MessageEvent<WorkerNotice>) => {
      if (this.#isClosed || worker !== this.#worker) return
      // One track is enough: all tracks change to the next epoch together.
      if (data === 'spent') this.#options.onEpochOver(false)
      if (data !== 'ready') return
      cancel()
      for (const [kind, transceiver] of this.#transceivers) this.#encrypt(kind, transceiver)
      // A new worker knows neither the counters nor the received frames, so it must not get a key of the
      // previous worker.
      if (this.#transceivers.size > 0) this.#options.onEpochOver(true)
      this.#isStarted = true
      this.#started.resolve()
    })
  }

  #restart(failed: Worker): void {
    if (this.#isClosed || failed !== this.#worker) return
    failed.terminate()
    this.#restarts += 1
    if (this.#restarts <= MAX_RESTARTS) this.#start()
    else this.#giveUp()
  }

  #giveUp(cause?: unknown): void {
    const message =
      'the worker that encrypts calls does not run: its script may not be served, or not be allowed'
    const error = new ClientError('UNSUPPORTED', message, { cause })
    // Before the start, the offer or answer that waits for it gets the error.
    if (this.#isStarted) this.#options.onError(error)
    else this.#started.reject(error)
  }

  #onState(): void {
    const state = this.#connection.connectionState
    if (state === 'connected') {
      this.#hasConnected = true
      this.#watchTransport()
      this.#options.onMedia('media_connected')
      this.#scheduleSample()
    }
    if (state === 'disconnected') this.#options.onMedia('media_interrupted')
    // As long as the DTLS transport is intact, a restart can reconnect the media.
    if (state === 'failed')
      this.#options.onMedia(
        this.#hasConnected && !this.#isTransportLost() ? 'media_interrupted' : 'media_failed',
      )
  }

  /** Nothing repairs a transport that the other side has closed: its device has left the call. */
  #watchTransport(): void {
    if (this.#transport) return
    const transport = this.#connection.getSenders()[0]?.transport ?? undefined
    this.#transport = transport
    transport?.addEventListener('statechange', () => {
      if (this.#isClosed || transport.state !== 'closed') return
      const giveUp = (): void => this.#options.onMedia('media_failed')
      this.#stopWaitingForHangup = this.#options.after(HANGUP_WITHIN_MS, giveUp)
    })
  }

  #isTransportLost(): boolean {
    return this.#transport?.state === 'failed' || this.#transport?.state === 'closed'
  }

  #scheduleSample(): void {
    this.#stopSampling()
    this.#stopSampling = this.#options.after(SAMPLE_EVERY_MS, () => {
      this.#connection.getStats().then(
        (stats) => {
          if (this.#isClosed) return
          if (this.#quality.isPoor(sampleOf(stats))) this.#options.onMedia('link_poor')
          this.#scheduleSample()
        },
        (error: unknown) => this.#options.onError(error),
      )
    })
  }

  #description(): string {
    const { localDescription } = this.#connection
    if (!localDescription) throw new ClientError('ABORTED', 'the call is over')
    return localDescription.sdp
  }
}

function isKind(kind: string): kind is CallTrackKind {
  return kind === 'audio' || kind === 'video'
}

function codecsOf(kind: CallTrackKind): RTCRtpCodec[] {
  const all = RTCRtpReceiver.getCapabilities(kind)?.codecs ?? []
  const of = (mimeType: string): RTCRtpCodec[] =>
    all.filter((codec) => codec.mimeType.toLowerCase() === mimeType)
  const usable = kind === 'audio' ? of('audio/opus') : VIDEO_CODECS.flatMap(of)
  if (usable.length === 0)
    throw new ClientError('UNSUPPORTED', `this browser has no codec for ${kind} that can be encrypted`)
  return kind === 'audio' ? usable : [...usable, ...of('video/rtx')]
}

function plainCandidate(of: RTCIceCandidate): CallCandidate {
  const { candidate, sdpMid, sdpMLineIndex, usernameFragment } = of
  return { candidate, sdpMid, sdpMLineIndex, usernameFragment }
}

function sampleOf(stats: RTCStatsReport): LinkSample {
  let sample: LinkSample = {}
  stats.forEach((stat: Readonly<Record<string, unknown>>) => {
    const { type, kind, fractionLost, timestamp, nominated, availableOutgoingBitrate } = stat
    if (type === 'remote-inbound-rtp' && kind === 'video' && typeof fractionLost === 'number')
      sample = { ...sample, videoLoss: fractionLost, reportedAt: Number(timestamp) }
    if (type === 'candidate-pair' && nominated && typeof availableOutgoingBitrate === 'number')
      sample = { ...sample, available: availableOutgoingBitrate }
  })
  return sample
}
