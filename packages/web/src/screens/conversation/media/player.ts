// Plays voice messages, one at a time.
import { type ReadonlySignal, signal } from '@preact/signals'
import type { Client } from '@sotto/client'
import { route } from '../../../session/route.ts'

/** The speeds, in the order in which the button offers them. */
const SPEEDS: readonly number[] = [1, 1.5, 2]

/** What is played, or paused. */
export interface Playing {
  /** The address of the recording. */
  readonly url: string
  readonly isPlaying: boolean
  readonly positionMs: number
}

export class Player {
  static readonly #all = new WeakMap<Client, Player>()

  /** The player of a page. It stops when the client is locked, and when another place is opened. */
  static of(client: Client): Player {
    const player = Player.#all.get(client) ?? new Player(client)
    Player.#all.set(client, player)
    return player
  }

  readonly #audio = new Audio()
  readonly #playing = signal<Playing | undefined>(undefined)
  readonly #speed = signal<number>(1)

  private constructor(client: Client) {
    client.on('lock_state', () => this.stop())
    let place = route.value
    route.subscribe((to) => {
      if (to !== place) this.stop()
      place = to
    })
    for (const event of ['play', 'pause', 'timeupdate', 'seeked', 'ended'])
      this.#audio.addEventListener(event, () => this.#show())
    // Loading another recording sets the speed back.
    this.#audio.addEventListener('loadedmetadata', () => {
      this.#audio.playbackRate = this.#speed.value
    })
  }

  get playing(): ReadonlySignal<Playing | undefined> {
    return this.#playing
  }

  get speed(): ReadonlySignal<number> {
    return this.#speed
  }

  /** Plays from a position, or goes on from there. @throws DOMException if the browser cannot play it */
  async play(url: string, fromMs: number): Promise<void> {
    if (this.#playing.value?.url !== url) await this.#load(url)
    this.#audio.currentTime = fromMs / 1000
    await this.#audio.play()
  }

  pause(): void {
    this.#audio.pause()
  }

  /** Goes to a position of what is played. */
  seek(positionMs: number): void {
    this.#audio.currentTime = positionMs / 1000
  }

  /** The next speed, for all that is played from now on. */
  nextSpeed(): void {
    const at = SPEEDS.indexOf(this.#speed.value)
    this.#speed.value = SPEEDS[(at + 1) % SPEEDS.length] ?? 1
    this.#audio.playbackRate = this.#speed.value
  }

  stop(): void {
    this.#playing.value = undefined
    this.#audio.pause()
    this.#audio.removeAttribute('src')
  }

  async #load(url: string): Promise<void> {
    this.stop()
    this.#audio.src = url
    this.#playing.value = { url, isPlaying: false, positionMs: 0 }
    await this.#event('loadedmetadata')
    if (Number.isFinite(this.#audio.duration)) return
    // Recorders of browsers do not write the length. The browser finds it at the end, and can then seek.
    this.#audio.currentTime = Number.MAX_SAFE_INTEGER
    await this.#event('seeked')
  }

  #event(name: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#audio.addEventListener(name, () => resolve(), { once: true })
      this.#audio.addEventListener('error', () => reject(new DOMException('', 'NotSupportedError')), {
        once: true,
      })
    })
  }

  #show(): void {
    const playing = this.#playing.value
    if (!playing) return
    const { paused, ended, currentTime } = this.#audio
    const isPlaying = !paused && !ended
    this.#playing.value = { url: playing.url, isPlaying, positionMs: ended ? 0 : currentTime * 1000 }
  }
}
