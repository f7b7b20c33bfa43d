// A page that makes calls: a client, Chromium's fake camera, and measurements of the other side's media.
import {
  type CallInfo,
  type CallPeerOptions,
  Calls,
  type OpenCallPeer,
  SharedClient,
  webRtc,
} from '../../src/browser.ts'
import { FrameDecryptor } from '../../src/calls/frame-cipher.ts'
import { type Client, ClientError, keyVault, MemoryStore, SottoClient } from '../../src/client.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import type { TappedFrame } from './calls-tap-worker.ts'

/** The settings that a test gives the page before the page's script runs. */
export interface PhoneSettings {
  readonly relayUrl: string
  readonly nickname: string
  readonly relayOnly?: boolean
  /** Whether messages and calls have forward secrecy, which `calls-forward-app.ts` brings. */
  readonly hasForwardSecrecy?: boolean
  /** Whether the tabs of this person share a client. */
  readonly isShared?: boolean
  readonly framesPerEpoch?: number
  /** Whether the page records every frame before and after its encryption or decryption. */
  readonly isTapped?: boolean
  /** Whether this side decrypts the other side's frames with random keys. */
  readonly hasWrongKeys?: boolean
  /** The video codecs that this browser seems not to have. */
  readonly without?: readonly string[]
  /** How many extra video sections this side offers. If any, it also offers a data channel. */
  readonly extraVideos?: number
  /** Whether every attempt to start a worker fails. */
  readonly hasNoWorkers?: boolean
}

/**
 * A recorded frame, with its bytes in Base64: before the cipher, and after it unless the frame was dropped.
 */
export interface CaughtFrame extends Omit<TappedFrame, 'before' | 'after'> {
  readonly before: string
  readonly after?: string
}

/** What this page has received and shown of the other side's media. */
export interface Seen {
  readonly framesReceived: number
  readonly framesDecoded: number
  readonly packetsReceived: number
  readonly audioEnergy: number
  /** The codec of the received video. */
  readonly codec: string
  /** How many pictures were shown. */
  readonly pictures: number
  /** How many different pictures were among those that the page sampled. */
  readonly different: number
  /** The types of this side's candidates: only `relay` if everything goes through TURN. */
  readonly own: readonly string[]
  /** The types of both candidates in the pair that carries the call. */
  readonly chosen: readonly string[]
}

/** What a person with recorded frames can decrypt and see. */
export interface Watched {
  readonly opened: number
  readonly pictures: number
  readonly different: number
}

class Phone {
  readonly client: Client
  calls: Calls
  readonly states: string[] = []
  readonly errors: string[] = []
  /** Why each call in the log ended. */
  readonly logged: string[] = []
  readonly frames = new Map<number, TappedFrame>()
  readonly workers: Worker[] = []
  /** The events of data channels: `open` and `closed`. */
  readonly channels: string[] = []
  /** How many workers were terminated. */
  terminated = 0
  /** Whether new workers run an empty script. */
  areWorkersEmpty = false
  /** Divides the wait for media, if that wait begins after the change. */
  hurry = 1
  readonly epochs: { sent: number[]; received: number[] } = { sent: [], received: [] }
  readonly keys = new Map<string, Uint8Array>()
  readonly connections: RTCPeerConnection[]
  #keyOf: CallPeerOptions['keyOf'] | undefined
  readonly #open: () => Calls
  readonly #store: MemoryStore
  readonly #video = document.createElement('video')
  readonly #pictures = new Set<string>()

  /** @param store that of a client of one tab */
  constructor(client: Client, store: MemoryStore, settings: PhoneSettings) {
    const {
      relayOnly = false,
      framesPerEpoch,
      isTapped,
      hasWrongKeys,
      hasNoWorkers,
      extraVideos = 0,
    } = settings
    this.client = client
    this.#store = store
    this.connections = spyOnConnections()
    new BroadcastChannel('tap').addEventListener('message', ({ data }) =>
      this.frames.set(data.id, { ...this.frames.get(data.id), ...data }),
    )
    const script = isTapped ? '/calls-tap-worker.js' : '/call-worker.js'
    const open = webRtc({
      ...(framesPerEpoch === undefined ? {} : { framesPerEpoch }),
      startWorker: () => {
        if (hasNoWorkers) throw new Error('no workers here')
        const worker = new Worker(this.areWorkersEmpty ? 'data:text/javascript,' : script, { type: 'module' })
        this.workers.push(worker)
        const { terminate } = worker
        worker.terminate = () => {
          this.terminated += 1
          terminate.call(worker)
        }
        return worker
      },
    })
    const watched: OpenCallPeer = (options) => {
      this.#keyOf = options.keyOf
      const peer = open({
        ...options,
        keyOf: async (side, mid, epoch) => {
          if (side === 'theirs' && hasWrongKeys) return crypto.getRandomValues(new Uint8Array(44))
          const key = await options.keyOf(side, mid, epoch)
          this.keys.set(`${side} ${mid} ${epoch}`, key.slice())
          return key
        },
      })
      if (extraVideos > 0) this.#offerMore(extraVideos)
      const { sendUnder, receiveUnder } = peer
      peer.sendUnder = (epoch) => {
        this.epochs.sent.push(epoch)
        return sendUnder.call(peer, epoch)
      }
      peer.receiveUnder = (epoch) => {
        this.epochs.received.push(epoch)
        return receiveUnder.call(peer, epoch)
      }
      return peer
    }
    this.#open = () => {
      const calls = new Calls(client, watched, { relayOnly })
      calls.onChange((call) => this.#show(call))
      return calls
    }
    this.calls = this.#open()
    client.on('error', (error) => this.errors.push(`${error.code} ${error.message}`))
    client.on('call_logged', ({ end }) => this.logged.push(end))
    client.on('friend_request', (friend) => client.acceptFriend(friend.friendship_id))
    this.#video.autoplay = true
    document.body.append(this.#video)
  }

  /** Closes the calls of this page and makes others. What the closed ones report is an error. */
  renewCalls(): void {
    const closed = this.calls
    closed.close()
    closed.onChange(({ state }) => this.errors.push(`closed calls report ${state}`))
    this.calls = this.#open()
  }

  /** Calls with the microphone and, if `withVideo`, the camera. Returns the error code, or `done`. */
  async call(contact: string, withVideo = true): Promise<string> {
    return codeOf(async () => this.calls.call(contact, await ownMedia(withVideo)))
  }

  async accept(withVideo = true): Promise<string> {
    return codeOf(async () => this.calls.accept(await ownMedia(withVideo)))
  }

  async turnVideo(isOn: boolean): Promise<void> {
    await this.calls.setTrack('video', isOn ? ((await ownMedia(true)).getVideoTracks()[0] ?? null) : null)
  }

  /** Makes the newest worker die. */
  loseWorker(): void {
    const worker = this.workers.at(-1)
    worker?.terminate()
    worker?.dispatchEvent(new Event('error'))
  }

  /** Every frame that was recorded until now. */
  caught(): CaughtFrame[] {
    return [...this.frames.values()].map(({ before, after, ...frame }) => ({
      ...frame,
      before: toBase64(before ?? new Uint8Array()),
      ...(after === undefined ? {} : { after: toBase64(after) }),
    }))
  }

  /** A frame key that this page has used, in Base64. The name is its side, media section and epoch. */
  key(name: string): string {
    return toBase64(this.keys.get(name) ?? new Uint8Array())
  }

  /** The one key of the conversation under version 1, in Base64. */
  async staticKey(): Promise<string> {
    const [session] = await this.#store.listSessions()
    return session?.sessionKeyBase64 ?? ''
  }

  /** Sends a text. @returns the version that it goes under, once the contact has it */
  async say(contact: string, text: string): Promise<number> {
    const { id, version = 1 } = await this.client.send(contact, text)
    await new Promise<void>((resolve) => {
      const stop = this.client.on('status_change', ({ message }) => {
        if (message.id !== id || message.status !== 'delivered') return
        stop()
        resolve()
      })
    })
    return version
  }

  /** The key of the other side's video in this epoch, in Base64. */
  async keyOfEpoch(epoch: number): Promise<string> {
    const key = await this.#keyOf?.('theirs', '1', epoch)
    return toBase64(key ?? new Uint8Array())
  }

  /** How many bytes of packet payloads the newest connection has sent. */
  async bytesSent(): Promise<number> {
    let bytes = 0
    const stats = (await this.connections.at(-1)?.getStats()) ?? new Map()
    stats.forEach((stat) => {
      if (stat.type === 'candidate-pair') bytes += stat.bytesSent ?? 0
    })
    return bytes
  }

  /**
   * Decrypts frames with a key and decodes them, as an eavesdropper would. Counts the frames that decrypt,
   * the decoded pictures, and the different pictures. Without a key, it decodes the frames unchanged.
   */
  async watch(frames: readonly CaughtFrame[], key?: string): Promise<Watched> {
    const watched = { opened: 0, pictures: 0, different: 0 }
    const decryptor = new FrameDecryptor()
    if (key !== undefined) decryptor.use(fromBase64(key))
    const pictures = new Set<string>()
    const decoder = new VideoDecoder({
      output: (picture) => {
        watched.pictures += 1
        const pixels = pictureOf(picture)
        if (pixels !== undefined) pictures.add(pixels)
        picture.close()
      },
      error: () => {},
    })
    decoder.configure({ codec: 'vp09.00.10.08' })
    for (const { after = '', timestamp, type } of frames) {
      const bytes = fromBase64(after)
      const data = key === undefined ? bytes : await decryptor.transform(bytes)
      if (!data) continue
      watched.opened += 1
      if (decoder.state !== 'configured') continue
      try {
        decoder.decode(new EncodedVideoChunk({ type: type === 'key' ? 'key' : 'delta', timestamp, data }))
      } catch (error) {
        // The decoder throws at once if the bytes are not even the beginning of a frame.
        if (!(error instanceof DOMException)) throw error
      }
    }
    if (decoder.state === 'configured') await decoder.flush().catch(() => {})
    return { ...watched, different: pictures.size }
  }

  /** How many packets of sound and of video the newest connection has sent. */
  async sent(): Promise<{ audio: number; video: number }> {
    const sent = { audio: 0, video: 0 }
    const stats = (await this.connections.at(-1)?.getStats()) ?? new Map()
    stats.forEach((stat) => {
      if (stat.type !== 'outbound-rtp') return
      if (stat.kind === 'audio') sent.audio = stat.packetsSent ?? 0
      if (stat.kind === 'video') sent.video = stat.packetsSent ?? 0
    })
    return sent
  }

  async see(): Promise<Seen> {
    const seen = { framesReceived: 0, framesDecoded: 0, packetsReceived: 0, audioEnergy: 0, codec: '' }
    const [own, chosen]: [string[], string[]] = [[], []]
    const stats = (await this.connections.at(-1)?.getStats()) ?? new Map()
    stats.forEach((stat) => {
      if (stat.type === 'local-candidate') own.push(stat.candidateType)
      if (stat.type === 'candidate-pair' && stat.nominated)
        chosen.push(
          stats.get(stat.localCandidateId).candidateType,
          stats.get(stat.remoteCandidateId).candidateType,
        )
      if (stat.type !== 'inbound-rtp') return
      if (stat.kind === 'audio') seen.audioEnergy = stat.totalAudioEnergy ?? 0
      if (stat.kind !== 'video') return
      seen.framesReceived = stat.framesReceived ?? 0
      seen.framesDecoded = stat.framesDecoded ?? 0
      seen.packetsReceived = stat.packetsReceived ?? 0
      seen.codec = stats.get(stat.codecId)?.mimeType ?? ''
    })
    this.#samplePicture()
    const pictures = this.#video.getVideoPlaybackQuality().totalVideoFrames
    return { ...seen, pictures, different: this.#pictures.size, own, chosen }
  }

  #offerMore(videos: number): void {
    const connection = this.connections.at(-1)
    const channel = connection?.createDataChannel('more')
    channel?.addEventListener('open', () => this.channels.push('open'))
    channel?.addEventListener('close', () => this.channels.push('closed'))
    for (let n = 0; n < videos; n += 1) connection?.addTransceiver('video')
  }

  /** Records the picture that the video shows now, unless it has only one colour. */
  #samplePicture(): void {
    const pixels = this.#video.videoWidth === 0 ? undefined : pictureOf(this.#video)
    if (pixels !== undefined) this.#pictures.add(pixels)
  }

  #show(call: CallInfo): void {
    const state = call.isElsewhere ? `elsewhere ${call.state}` : call.state
    const line = call.end === undefined ? state : `${state}: ${call.end}`
    if (this.states.at(-1) !== line) this.states.push(line)
    if (call.theirStream && this.#video.srcObject !== call.theirStream)
      this.#video.srcObject = call.theirStream
  }
}

/** The pixels of a small copy of a picture. Undefined if the picture has only one colour. */
function pictureOf(source: CanvasImageSource): string | undefined {
  const canvas = document.createElement('canvas')
  canvas.width = 32
  canvas.height = 24
  const context = canvas.getContext('2d')
  if (!context) return undefined
  context.drawImage(source, 0, 0, canvas.width, canvas.height)
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height)
  return new Set(data).size > 8 ? data.join() : undefined
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
}

/** Hides these codecs, as if the browser lacked them. */
function hideCodecs(mimeTypes: readonly string[]): void {
  const { getCapabilities } = RTCRtpReceiver
  RTCRtpReceiver.getCapabilities = (kind) => {
    const all = getCapabilities.call(RTCRtpReceiver, kind)
    return all && { ...all, codecs: all.codecs.filter(({ mimeType }) => !mimeTypes.includes(mimeType)) }
  }
}

async function ownMedia(withVideo: boolean): Promise<MediaStream> {
  const video = { width: 320, height: 240, frameRate: 10 }
  return navigator.mediaDevices.getUserMedia({ audio: true, video: withVideo && video })
}

async function codeOf(run: () => Promise<unknown>): Promise<string> {
  try {
    await run()
    return 'done'
  } catch (error) {
    if (error instanceof ClientError) return error.code
    throw error
  }
}

/**
 * Records every connection that the page makes, because only the connection itself can report its traffic.
 */
function spyOnConnections(): RTCPeerConnection[] {
  const made: RTCPeerConnection[] = []
  globalThis.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(...input: ConstructorParameters<typeof RTCPeerConnection>) {
      super(...input)
      made.push(this)
    }
  }
  return made
}

declare global {
  var phoneSettings: PhoneSettings
  var phone: Phone
}

const settings = globalThis.phoneSettings
hideCodecs(settings.without ?? [])
const { relayUrl } = settings
const clock: Clock = {
  now: systemClock.now,
  // Tabs wait for each other before there is a phone.
  after: (ms, run) => systemClock.after(ms === 30_000 ? ms / (globalThis.phone?.hurry ?? 1) : ms, run),
}
const store = new MemoryStore()
const client: Client = settings.isShared
  ? await SharedClient.open({ relayUrl, clock, name: 'phone', secrets: keyVault(new Uint8Array(32)) })
  : await SottoClient.open({
      ...{ relayUrl, clock, store },
      ...(settings.hasForwardSecrecy ? { forwardSecrecy: true } : {}),
    })
globalThis.phone = new Phone(client, store, settings)
if (!client.identity) await client.create({ nickname: settings.nickname })
await client.connect()
globalThis.isReady = true
