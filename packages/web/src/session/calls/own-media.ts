// The microphone, the camera and the screen of the user during a call: opened when they are needed, and
// stopped when the call is over.
import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { ClientError } from '@sotto/client'

/** What is sent as video. */
export type Picture =
  | { readonly kind: 'camera'; readonly track: MediaStreamTrack }
  | { readonly kind: 'screen'; readonly track: MediaStreamTrack; readonly hadCamera: boolean }

/** One device of each kind, by its id. */
export type DeviceOfKind = Readonly<Partial<Record<MediaDeviceKind, string>>>

/** Sends a track in the call, or none of its kind. */
type SendTrack = (kind: 'audio' | 'video', track: MediaStreamTrack | null) => Promise<void>

export class OwnMedia {
  readonly #send: SendTrack
  readonly #microphone = signal<MediaStreamTrack | undefined>(undefined)
  readonly #picture = signal<Picture | undefined>(undefined)
  readonly #isMuted = signal(false)
  readonly #devices = signal<readonly MediaDeviceInfo[]>([])
  readonly #chosen = signal<DeviceOfKind>({})
  readonly #used = computed<DeviceOfKind>(() => {
    const picture = this.#picture.value
    const microphone = this.#microphone.value?.getSettings().deviceId
    const camera = picture?.kind === 'camera' ? picture.track.getSettings().deviceId : undefined
    return {
      ...this.#chosen.value,
      ...(microphone === undefined ? {} : { audioinput: microphone }),
      ...(camera === undefined ? {} : { videoinput: camera }),
    }
  })
  /** Counts the stops, so that a device that was opened for an earlier call is not used. */
  #stops = 0

  constructor(send: SendTrack) {
    this.#send = send
    navigator.mediaDevices?.addEventListener('devicechange', () => {
      if (this.#microphone.value) void this.#listDevices()
    })
  }

  /** What is sent as video, if anything. */
  get picture(): ReadonlySignal<Picture | undefined> {
    return this.#picture
  }

  get isMuted(): ReadonlySignal<boolean> {
    return this.#isMuted
  }

  /** The microphones, cameras and speakers, during a call. */
  get devices(): ReadonlySignal<readonly MediaDeviceInfo[]> {
    return this.#devices
  }

  /** The devices in use, and the speaker if the user chose one. */
  get used(): ReadonlySignal<DeviceOfKind> {
    return this.#used
  }

  /**
   * Opens the microphone and, if wanted, the camera. A camera that is missing or in use is left out.
   * @throws DOMException as `getUserMedia` does, ClientError `UNSUPPORTED`, `ABORTED` if it was stopped
   */
  async open(withVideo: boolean): Promise<MediaStream> {
    const stream = await this.#openDevices(withVideo)
    this.#microphone.value = stream.getAudioTracks()[0]
    const [camera] = stream.getVideoTracks()
    if (camera) this.#picture.value = { kind: 'camera', track: camera }
    await this.#listDevices()
    return stream
  }

  async setMuted(isMuted: boolean): Promise<void> {
    await this.#send('audio', isMuted ? null : (this.#microphone.value ?? null))
    this.#isMuted.value = isMuted
  }

  /** Turns the camera on or off. Sharing the screen ends. @throws as `open` */
  async setCamera(isOn: boolean): Promise<void> {
    if (isOn) {
      const stream = await this.#ask(() => ({ video: this.#wanted('videoinput') }))
      await this.#show({ kind: 'camera', track: firstOf(stream) })
    } else await this.#show(undefined)
    await this.#listDevices()
  }

  /** Uses the next camera. */
  async switchCamera(): Promise<void> {
    const cameras = this.#devices.value.filter(({ kind }) => kind === 'videoinput')
    const current = this.#picture.value?.track.getSettings().deviceId
    const at = cameras.findIndex(({ deviceId }) => deviceId === current)
    const next = cameras[(at + 1) % cameras.length]
    if (next) await this.choose('videoinput', next.deviceId)
  }

  /** Shares the screen, a window or a tab, as the user chooses, until the user or the browser ends it. */
  async share(): Promise<void> {
    const hadCamera = this.#picture.value?.kind === 'camera'
    const stops = this.#stops
    const stream = await navigator.mediaDevices.getDisplayMedia({ video: true })
    const track = firstOf(this.#checked(stream, stops))
    await this.#show({ kind: 'screen', track, hadCamera })
    track.addEventListener('ended', () => {
      if (this.#picture.value?.track === track) void this.stopSharing()
    })
  }

  /** Ends sharing. The camera is on again if it was. */
  async stopSharing(): Promise<void> {
    const picture = this.#picture.value
    if (picture?.kind === 'screen') await this.setCamera(picture.hadCamera)
  }

  /** Sends the picture again, after the library has stopped it on a poor connection. */
  async resumePicture(): Promise<void> {
    await this.#send('video', this.#picture.value?.track ?? null)
  }

  /** Uses a device from now on, also in later calls of this tab. @throws as `open` */
  async choose(kind: MediaDeviceKind, deviceId: string): Promise<void> {
    this.#chosen.value = { ...this.#chosen.value, [kind]: deviceId }
    if (kind === 'videoinput' && this.#picture.value?.kind === 'camera') {
      // Some devices cannot open two cameras at the same moment.
      this.#picture.value.track.stop()
      await this.setCamera(true)
    }
    if (kind === 'audioinput' && this.#microphone.value) {
      const track = firstOf(await this.#ask(() => ({ audio: this.#wanted('audioinput') })))
      if (!this.#isMuted.value) await this.#send('audio', track)
      this.#microphone.value?.stop()
      this.#microphone.value = track
    }
  }

  /** Stops everything: no device stays in use. */
  stop(): void {
    this.#stops += 1
    this.#microphone.value?.stop()
    this.#picture.value?.track.stop()
    this.#microphone.value = undefined
    this.#picture.value = undefined
    this.#isMuted.value = false
  }

  async #openDevices(withVideo: boolean): Promise<MediaStream> {
    const audio = (): MediaStreamConstraints => ({ audio: this.#wanted('audioinput') })
    if (!withVideo) return this.#ask(audio)
    try {
      return await this.#ask(() => ({ ...audio(), video: this.#wanted('videoinput') }))
    } catch (error) {
      if (!isMissingDevice(error)) throw error
      return await this.#ask(audio)
    }
  }

  async #ask(constraints: () => MediaStreamConstraints): Promise<MediaStream> {
    const stops = this.#stops
    if (!navigator.mediaDevices)
      throw new ClientError('UNSUPPORTED', 'this page may not use microphones and cameras')
    try {
      return this.#checked(await navigator.mediaDevices.getUserMedia(constraints()), stops)
    } catch (error) {
      if (!(error instanceof OverconstrainedError)) throw error
    }
    // A device that was chosen is not connected any more.
    const { audiooutput } = this.#chosen.value
    this.#chosen.value = audiooutput === undefined ? {} : { audiooutput }
    return this.#checked(await navigator.mediaDevices.getUserMedia(constraints()), stops)
  }

  /** The user may have taken long to answer the browser's question. */
  #checked(stream: MediaStream, stops: number): MediaStream {
    if (stops === this.#stops) return stream
    for (const track of stream.getTracks()) track.stop()
    throw new ClientError('ABORTED', 'the call is over')
  }

  async #show(picture: Picture | undefined): Promise<void> {
    const before = this.#picture.value
    const stops = this.#stops
    try {
      await this.#send('video', picture?.track ?? null)
    } catch (error) {
      picture?.track.stop()
      throw error
    }
    if (stops !== this.#stops) return picture?.track.stop()
    this.#picture.value = picture
    before?.track.stop()
  }

  #wanted(kind: 'audioinput' | 'videoinput'): MediaTrackConstraints {
    const chosen = this.#chosen.value[kind]
    // Chromium heeds an id only if it is asked for exactly.
    const device = chosen === undefined ? {} : { deviceId: { exact: chosen } }
    if (kind === 'audioinput') return device
    const side = chosen === undefined ? { facingMode: 'user' } : {}
    return { ...device, ...side, width: { ideal: 1280 }, height: { ideal: 720 } }
  }

  async #listDevices(): Promise<void> {
    this.#devices.value = await navigator.mediaDevices.enumerateDevices()
  }
}

function firstOf(stream: MediaStream): MediaStreamTrack {
  const [track] = stream.getTracks()
  if (!track) throw new ClientError('UNSUPPORTED', 'the browser has opened no device')
  return track
}

function isMissingDevice(error: unknown): boolean {
  return error instanceof DOMException && ['NotFoundError', 'NotReadableError'].includes(error.name)
}
