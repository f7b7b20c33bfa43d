// A call's media in browsers: one RTCPeerConnection, whose frames are encrypted in a worker or not sent.
import { ClientError } from '../client-error.ts'
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

/** How often the link is looked at, in milliseconds. */
const LOOK_EVERY_MS = 2000
/** A worker that fails more often does not work. */
const MAX_RESTARTS = 3
/** A worker that has not said a word for this long never will, in milliseconds. */
const START_WITHIN_MS = 10_000
/**
 * Video codecs whose frames can be encrypted whole, the best first. VP9's packets say by themselves what they hold; of VP8
 * only the decoder needs it. Packets of H.264 and AV1 are made by reading the frame, so that nothing of one arrives.
 */
const VIDEO_CODECS = ['video/vp9', 'video/vp8']
const KINDS: readonly CallTrackKind[] = ['audio', 'video']
/** Audio and video, and room for what another client may add, which is turned down. */
const MAX_SECTIONS = 8

/** Options of `webRtc`. */
export interface WebRtcOptions {
  /**
   * Starts the worker that encrypts, for bundlers that do not find its script by themselves:
   * `() => new Worker('/assets/call-worker.js', { type: 'module' })` with `@sotto/client/call-worker` as its source.
   */
  readonly startWorker?: () => Worker
  /** After so many frames of a track a key is replaced. 2^31 unless told, of the 2^32 that a key may encrypt. */
  readonly framesPerEpoch?: number
}

/**
 * The media of calls in a browser: `new Calls(client, webRtc())`. Needs `RTCRtpScriptTransform` (Chromium 141, Firefox 117,
 * Safari 15.4); where that is missing, calls are refused with `UNSUPPORTED`, for nothing is sent that is not encrypted.
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
  readonly #started = Promise.withResolvers<void>()
  #worker: Worker | undefined
  #restarts = 0
  #isStarted = false
  #hasConnected = false
  #isClosed = false
  #stopLooking: () => void = () => {}
  #stopWaiting: () => void = () => {}

  constructor(options: CallPeerOptions, startWorker: () => Worker, framesPerEpoch: number) {
    this.#options = options
    this.#startWorker = startWorker
    this.#framesPerEpoch = framesPerEpoch
    this.#connection = new RTCPeerConnection(this.#configuration(options.iceServers))
    this.#connection.addEventListener('icecandidate', ({ candidate }) => {
      if (candidate?.candidate) options.onCandidate(plainCandidate(candidate))
    })
    this.#connection.addEventListener('connectionstatechange', () => this.#onState())
    // What goes over one is not encrypted by us: a call has none, whatever the other side opens.
    this.#connection.addEventListener('datachannel', ({ channel }) => channel.close())
    // Who waits for it is told; nobody else has to be.
    this.#started.promise.catch(() => {})
    this.#start()
  }

  async createOffer(): Promise<string> {
    await this.#started.promise
    // Both kinds, whatever is sent at first: what is sent can change later without another offer.
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
    // One that cannot be used is one way less.
    await this.#connection.addIceCandidate({ ...candidate }).catch(() => {})
  }

  sendUnder(epoch: number): Promise<void> {
    return this.#useKeys('send', epoch)
  }

  receiveUnder(epoch: number): Promise<void> {
    return this.#useKeys('receive', epoch)
  }

  expect(media: SentMedia): void {
    // A `video` element plays no sound while it waits for the first picture of a track that has none.
    for (const [kind, { receiver }] of this.#transceivers) {
      if (media[kind]) this.#stream.addTrack(receiver.track)
      else this.#stream.removeTrack(receiver.track)
    }
  }

  async setTrack(kind: CallTrackKind, track: MediaStreamTrack | null): Promise<void> {
    await this.#transceivers.get(kind)?.sender.replaceTrack(track)
  }

  close(): void {
    this.#isClosed = true
    this.#stopLooking()
    this.#stopWaiting()
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
    // Browsers make something of each section, however many there are.
    if ((sdp.match(/^m=/gm)?.length ?? 0) > MAX_SECTIONS)
      throw new ClientError('BAD_REPLY', `the other side offers more than ${MAX_SECTIONS} kinds of media`)
    await this.#connection.setRemoteDescription({ type: 'offer', sdp })
    for (const transceiver of this.#connection.getTransceivers()) {
      const { kind } = transceiver.receiver.track
      const known = isKind(kind) ? this.#transceivers.get(kind) : undefined
      if (known === transceiver) continue
      if (!isKind(kind) || known) {
        // Nothing encrypts or decrypts what would go through it.
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

  /** From here on nothing of this track leaves or comes in but through the worker. */
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

  // After the transforms: a track that is there before could send a frame in the clear.
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
      // Not to a worker that has begun meanwhile: that needs another epoch.
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
      // One kind is enough: all tracks go on to the next epoch together.
      if (data === 'spent') this.#options.onEpochOver(false)
      if (data !== 'ready') return
      cancel()
      for (const [kind, transceiver] of this.#transceivers) this.#encrypt(kind, transceiver)
      // Another worker knows neither the counters nor what was received: it gets no key the one before had.
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
    const error = new ClientError('UNSUPPORTED', 'the worker that encrypts calls does not work', { cause })
    // Before it has started, whoever waits for that hears of it.
    if (this.#isStarted) this.#options.onError(error)
    else this.#started.reject(error)
  }

  #onState(): void {
    const state = this.#connection.connectionState
    if (state === 'connected') {
      this.#hasConnected = true
      this.#options.onMedia('media_connected')
      this.#look()
    }
    if (state === 'disconnected') this.#options.onMedia('media_interrupted')
    // The way is lost, but not the other side, as long as the encryption of the way is not broken.
    if (state === 'failed')
      this.#options.onMedia(this.#hasConnected && !this.#isCutOff() ? 'media_interrupted' : 'media_failed')
  }

  #isCutOff(): boolean {
    const states = this.#connection.getSenders().map(({ transport }) => transport?.state)
    return states.includes('failed') || states.includes('closed')
  }

  #look(): void {
    this.#stopLooking()
    this.#stopLooking = this.#options.after(LOOK_EVERY_MS, () => {
      this.#connection.getStats().then(
        (stats) => {
          if (this.#isClosed) return
          if (this.#quality.look(sampleOf(stats))) this.#options.onMedia('link_poor')
          this.#look()
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
    const { type, kind, fractionLost, nominated, availableOutgoingBitrate } = stat
    if (type === 'remote-inbound-rtp' && kind === 'video' && typeof fractionLost === 'number')
      sample = { ...sample, videoLoss: fractionLost }
    if (type === 'candidate-pair' && nominated && typeof availableOutgoingBitrate === 'number')
      sample = { ...sample, available: availableOutgoingBitrate }
  })
  return sample
}
