// The calls of this tab: what is shown of the call, what the user does with it, and how its end is told.
import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { ClientError } from '@sotto/client'
import {
  type CallInfo,
  CallLog,
  type CallQuality,
  Calls,
  QualityMeter,
  type SharedClient,
  webRtc,
} from '@sotto/client/browser'
import { callsTexts } from '../../texts/calls.ts'
import { explain } from '../../texts/explain.ts'
import { nowMs } from '../clock.ts'
import { stayAwake } from '../idle-lock.ts'
import { notify } from '../notices.ts'
import { preferences } from '../preferences.ts'
import { startWorker } from '../trusted-scripts.ts'
import { notifyOfCall } from './call-notification.ts'
import { farewellOf } from './call-words.ts'
import { OwnMedia } from './own-media.ts'
import { ring } from './ringer.ts'

const MEASURED_EVERY_MS = 2000
/** How long a call that was asked for waits for the connection to the relay. */
const CONNECTS_WITHIN_MS = 5000

/** The calls of this tab. Made once for a client. */
export class Phone {
  readonly log: CallLog
  readonly media: OwnMedia
  readonly #client: SharedClient
  readonly #calls: Calls
  readonly #nameOf: (conversationId: string) => string
  readonly #call = signal<CallInfo | undefined>(undefined)
  readonly #connectedAt = signal<number | undefined>(undefined)
  readonly #quality = signal<CallQuality | undefined>(undefined)
  readonly #isAnswering = signal(false)
  /** The call that rings, and how to stop it. */
  #ringing: { readonly key: string; readonly stop: () => void } | undefined
  /** The call whose end was told. */
  #told: string | undefined

  /** @param nameOf the name of the contact of a conversation */
  constructor(client: SharedClient, nameOf: (conversationId: string) => string | undefined) {
    this.#client = client
    this.#nameOf = (id) => nameOf(id) ?? callsTexts.value.somebody
    this.log = new CallLog(client)
    this.#calls = new Calls(client, webRtc({ startWorker: () => startWorker('callWorker') }))
    this.media = new OwnMedia((kind, track) => this.#calls.setTrack(kind, track))
    this.#calls.onChange((call) => this.#onChange(call))
    this.#calls.onRefused(({ reason }) => {
      if (reason === 'STALE') notify(callsTexts.value.wrongClock, { kind: 'error' })
    })
    // A ringing call does not count: otherwise a contact could keep the app open by calling.
    const isTalking = computed(() => this.#call.value !== undefined && this.#call.value.state !== 'ringing')
    effect(() => (isTalking.value ? stayAwake() : undefined))
    const isMeasured = computed(
      () => this.#call.value?.state === 'connected' && !this.#call.value.isElsewhere,
    )
    effect(() => (isMeasured.value ? this.#measure() : undefined))
    addEventListener('beforeunload', (event) => {
      const call = this.#call.value
      // The call ends with the page, so the browser asks first.
      if (call && !call.isElsewhere && call.state !== 'ringing') event.preventDefault()
    })
  }

  /** The call that rings or goes on, if there is one. */
  get call(): ReadonlySignal<CallInfo | undefined> {
    return this.#call
  }

  /** Since when the two sides have been connected. */
  get connectedAt(): ReadonlySignal<number | undefined> {
    return this.#connectedAt
  }

  /** How good the connection is; undefined until it is measured. */
  get quality(): ReadonlySignal<CallQuality | undefined> {
    return this.#quality
  }

  /** The user has pressed the button, and the browser may be asking for permission. */
  get isAnswering(): ReadonlySignal<boolean> {
    return this.#isAnswering
  }

  /** Calls a contact. Errors are shown. */
  async start(conversationId: string, { withVideo }: { readonly withVideo: boolean }): Promise<void> {
    if (this.#call.value || this.#isAnswering.value) {
      notify(callsTexts.value.already)
      return
    }
    await this.#begin(withVideo, async (open) => {
      await this.#connection()
      await this.#calls.call(conversationId, await open())
    })
  }

  /** Answers the call that rings. Errors are shown, and it goes on ringing. */
  async answer({ withVideo }: { readonly withVideo: boolean }): Promise<void> {
    if (this.#isAnswering.value) return
    await this.#begin(withVideo, async (open) => {
      await this.#calls.accept(await open())
    })
  }

  /** Ends the call, or rejects the one that rings. */
  hangUp(): void {
    this.#calls.hangUp()
  }

  /** Does something with the user's devices. Errors are shown: which one is missing, and what to do. */
  async change(work: (media: OwnMedia) => Promise<void>): Promise<void> {
    try {
      await work(this.media)
    } catch (error) {
      this.#explain(error)
    }
  }

  /** Begins or ends sharing the screen. Closing the browser's question is no error. */
  async share(isOn: boolean): Promise<void> {
    await this.change(async (media) => {
      try {
        await (isOn ? media.share() : media.stopSharing())
      } catch (error) {
        if (!(error instanceof DOMException && error.name === 'NotAllowedError')) throw error
      }
    })
  }

  async #begin(withVideo: boolean, work: (open: () => Promise<MediaStream>) => Promise<void>): Promise<void> {
    this.#isAnswering.value = true
    try {
      if (typeof RTCPeerConnection !== 'function')
        throw new ClientError('UNSUPPORTED', 'this browser has no WebRTC')
      await work(() => this.media.open(withVideo))
    } catch (error) {
      this.#explain(error)
    }
    this.#isAnswering.value = false
    // The call may have failed, or ended meanwhile.
    if (!this.#call.value || this.#call.value.isElsewhere || this.#call.value.state === 'ringing')
      this.media.stop()
  }

  /** Waits a moment for a connection that is being made, as after the page was opened. */
  async #connection(): Promise<void> {
    const client = this.#client
    if (client.networkState === 'connecting') {
      const { promise, resolve } = Promise.withResolvers<void>()
      const forget = client.on('network_state', () => resolve())
      const timer = setTimeout(resolve, CONNECTS_WITHIN_MS)
      await promise
      clearTimeout(timer)
      forget()
    }
    if (client.networkState !== 'connected')
      throw new ClientError('NETWORK', 'there is no connection to the relay')
  }

  /** Measures the connection until the returned function is called. */
  #measure(): () => void {
    const meter = new QualityMeter()
    const look = async (): Promise<void> => {
      try {
        const stats = await this.#calls.stats()
        this.#quality.value = stats && meter.measure(stats)
      } catch (error) {
        this.#explain(error)
      }
    }
    const timer = setInterval(() => void look(), MEASURED_EVERY_MS)
    return () => {
      clearInterval(timer)
      this.#quality.value = undefined
    }
  }

  #explain(error: unknown): void {
    // The call has ended meanwhile, and its end was told.
    if (error instanceof ClientError && error.code === 'ABORTED') return
    const { problems } = callsTexts.value
    const text = error instanceof DOMException ? problems[error.name] : undefined
    notify(text ?? explain(error), { kind: 'error' })
  }

  #onChange(call: CallInfo): void {
    if (call.end !== undefined) return this.#onEnd(call)
    if (call.id !== this.#call.value?.id) this.#connectedAt.value = undefined
    if (call.state === 'connected') this.#connectedAt.value ??= nowMs()
    if (call.isElsewhere) this.media.stop()
    this.#call.value = call
    this.#ring(call)
  }

  #onEnd(call: CallInfo): void {
    const current = this.#call.value
    // An unencrypted call ends without ringing, perhaps during another call.
    if (call.id === current?.id || !current) {
      this.media.stop()
      this.#stopRinging()
      this.#call.value = undefined
    }
    if (call.isElsewhere || call.id === this.#told) return
    this.#told = call.id
    const name = this.#nameOf(call.conversationId)
    const wasAnswered = current?.id === call.id && ['connecting', 'connected'].includes(current.state)
    const text = farewellOf(call, { wasAnswered, name, t: callsTexts.value })
    if (text !== undefined) notify(text)
  }

  #ring({ id, state, isCaller, conversationId, isElsewhere }: CallInfo): void {
    const kind = isElsewhere
      ? undefined
      : state === 'ringing'
        ? 'incoming'
        : state === 'calling'
          ? 'outgoing'
          : undefined
    const key = `${id} ${kind}`
    if (this.#ringing?.key === key) return
    this.#stopRinging()
    if (!kind) return
    const calls = callsTexts.value
    const name = this.#nameOf(conversationId)
    const stopSound = isCaller ? ring(kind) : ring(kind, calls.isCalling(name))
    const { notices } = preferences.value
    const title = notices === 'hidden' ? calls.incoming : calls.isCalling(name)
    const stopNotice = isCaller || notices === 'off' ? undefined : notifyOfCall(title)
    const stop = (): void => {
      stopSound()
      stopNotice?.()
    }
    this.#ringing = { key, stop }
  }

  #stopRinging(): void {
    this.#ringing?.stop()
    this.#ringing = undefined
  }
}
