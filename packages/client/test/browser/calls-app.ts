// A page that calls: a client, a camera that is Chromium's own, and what is seen of the other side.
import { type CallInfo, Calls, type OpenCallPeer, webRtc } from '../../src/browser.ts'
import { ClientError, MemoryStore, SottoClient } from '../../src/client.ts'
import type { TappedFrame } from './calls-tap-worker.ts'

/** What a test tells the page before its script runs. */
export interface PhoneSettings {
  readonly relayUrl: string
  readonly nickname: string
  readonly relayOnly?: boolean
  readonly framesPerEpoch?: number
  /** Every frame is noted where it leaves the encryption. */
  readonly isTapped?: boolean
  /** What the other side sends is decrypted with keys of nobody. */
  readonly hasWrongKeys?: boolean
}

/** What is seen of the other side. */
export interface Seen {
  readonly framesReceived: number
  readonly framesDecoded: number
  readonly packetsReceived: number
  readonly audioEnergy: number
  /** The codec of the video. */
  readonly codec: string
  /** How many pictures were shown, and how many different ones there were among those looked at. */
  readonly pictures: number
  readonly different: number
  /** Kinds of own candidates: `relay` where all goes through TURN. */
  readonly own: readonly string[]
  readonly chosen: readonly string[]
}

class Phone {
  readonly client: SottoClient
  readonly calls: Calls
  readonly states: string[] = []
  readonly errors: string[] = []
  readonly frames: TappedFrame[] = []
  readonly workers: Worker[] = []
  readonly epochs: { sent: number[]; received: number[] } = { sent: [], received: [] }
  readonly keys = new Map<string, Uint8Array>()
  readonly connections: RTCPeerConnection[]
  readonly #video = document.createElement('video')
  readonly #pictures = new Set<string>()

  constructor(
    client: SottoClient,
    { relayOnly = false, framesPerEpoch, isTapped, hasWrongKeys }: PhoneSettings,
  ) {
    this.client = client
    this.connections = spyOnConnections()
    new BroadcastChannel('tap').addEventListener('message', ({ data }) => this.frames.push(data))
    const script = isTapped ? '/calls-tap-worker.js' : '/call-worker.js'
    const open = webRtc({
      ...(framesPerEpoch === undefined ? {} : { framesPerEpoch }),
      startWorker: () => {
        const worker = new Worker(script, { type: 'module' })
        this.workers.push(worker)
        return worker
      },
    })
    const watched: OpenCallPeer = (options) => {
      const peer = open({
        ...options,
        keyOf: async (side, mid, epoch) => {
          if (side === 'theirs' && hasWrongKeys) return crypto.getRandomValues(new Uint8Array(44))
          const key = await options.keyOf(side, mid, epoch)
          this.keys.set(`${side} ${mid} ${epoch}`, key.slice())
          return key
        },
      })
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
    this.calls = new Calls(client, watched, { relayOnly })
    this.calls.onChange((call) => this.#show(call))
    client.on('error', (error) => this.errors.push(`${error.code} ${error.message}`))
    client.on('friend_request', (friend) => client.acceptFriend(friend.friendship_id))
    this.#video.autoplay = true
    document.body.append(this.#video)
  }

  /** Calls with camera and microphone. Answers the code of what it throws. */
  async call(contact: string, withVideo = true): Promise<string> {
    return codeOf(async () => this.calls.call(contact, await ownMedia(withVideo)))
  }

  async accept(withVideo = true): Promise<string> {
    return codeOf(async () => this.calls.accept(await ownMedia(withVideo)))
  }

  async turnVideo(isOn: boolean): Promise<void> {
    await this.calls.setTrack('video', isOn ? ((await ownMedia(true)).getVideoTracks()[0] ?? null) : null)
  }

  /** A worker that dies. */
  loseWorker(): void {
    const worker = this.workers.at(-1)
    worker?.terminate()
    worker?.dispatchEvent(new Event('error'))
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
    this.#look()
    const pictures = this.#video.getVideoPlaybackQuality().totalVideoFrames
    return { ...seen, pictures, different: this.#pictures.size, own, chosen }
  }

  /** Notes what the picture shows now, unless it is of one colour. */
  #look(): void {
    const canvas = document.createElement('canvas')
    canvas.width = 32
    canvas.height = 24
    const context = canvas.getContext('2d')
    if (!context || this.#video.videoWidth === 0) return
    context.drawImage(this.#video, 0, 0, canvas.width, canvas.height)
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height)
    if (new Set(data).size > 8) this.#pictures.add(data.join())
  }

  #show(call: CallInfo): void {
    const line = call.end === undefined ? call.state : `${call.state}: ${call.end}`
    if (this.states.at(-1) !== line) this.states.push(line)
    if (call.theirStream && this.#video.srcObject !== call.theirStream)
      this.#video.srcObject = call.theirStream
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

/** Notes every connection the page makes: what goes over it is asked of it alone. */
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
const client = await SottoClient.open({ relayUrl: settings.relayUrl, store: new MemoryStore() })
globalThis.phone = new Phone(client, settings)
await client.create({ nickname: settings.nickname })
client.connect()
globalThis.isReady = true
