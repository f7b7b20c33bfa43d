// What a call needs of whoever carries its media. Browsers' is `webrtc.ts`.

/** Candidates of one side for one description, at most. A browser has a few; the relay keeps as many. */
export const MAX_CANDIDATES = 64

/** What one side sends. */
export type CallTrackKind = 'audio' | 'video'

/** What a side sends now. */
export interface SentMedia {
  readonly audio: boolean
  readonly video: boolean
}

/** A way to reach a side for its media, as `RTCIceCandidate.toJSON` gives it. */
export interface CallCandidate {
  readonly candidate: string
  readonly sdpMid: string | null
  readonly sdpMLineIndex: number | null
  readonly usernameFragment: string | null
}

/** What a peer is made with. */
export interface CallPeerOptions {
  readonly iceServers: readonly RTCIceServer[]
  /** Media goes through TURN servers only. */
  readonly relayOnly: boolean
  /** What to send from the beginning. */
  readonly stream: MediaStream | undefined
  /** The 44 bytes of key material of one side, track and epoch. */
  readonly keyOf: (side: 'own' | 'theirs', mid: string, epoch: number) => Promise<Uint8Array>
  /** Runs once after `ms`; returns what prevents it. */
  readonly after: (ms: number, run: () => void) => () => void
  readonly onCandidate: (candidate: CallCandidate) => void
  /** What became of the media; `media_interrupted` as long as another way may be found, `media_failed` where none can. */
  readonly onMedia: (event: 'media_connected' | 'media_interrupted' | 'media_failed' | 'link_poor') => void
  /** What the other side sends. */
  readonly onStream: (stream: MediaStream) => void
  /**
   * The own keys are not to be used any longer: the next epoch is to begin. `lost` where what was received under the
   * other side's keys is forgotten too, so that they are not to be used either.
   */
  readonly onEpochOver: (lost: boolean) => void
  readonly onError: (error: unknown) => void
}

/** The media of one call: sent and received encrypted, or not at all. */
export interface CallPeer {
  /** The description of what this side offers, in SDP. */
  createOffer(): Promise<string>
  /** The description of what this side answers. */
  createAnswer(offer: string): Promise<string>
  takeAnswer(answer: string): Promise<void>
  /**
   * The description of another way for the media (an ICE restart). What is sent and under which keys stays as it is.
   * @param iceServers to be used from now on; those before where there are none
   */
  offerRestart(iceServers?: readonly RTCIceServer[]): Promise<string>
  /** The description of what this side answers to an offer of another way. */
  answerRestart(offer: string, iceServers?: readonly RTCIceServer[]): Promise<string>
  addCandidate(candidate: CallCandidate): Promise<void>
  /** Encrypts under the keys of this epoch from now on. Nothing is sent before the first. Each is given once. */
  sendUnder(epoch: number): Promise<void>
  /** Decrypts under the keys of this epoch from now on, and for what is late under those before. */
  receiveUnder(epoch: number): Promise<void>
  /** What the other side says it sends: the stream holds no track of what it does not. */
  expect(media: SentMedia): void
  /** What to send of this kind; nothing where it is null. */
  setTrack(kind: CallTrackKind, track: MediaStreamTrack | null): Promise<void>
  close(): void
}

/** Makes the peer of a call. @throws ClientError `UNSUPPORTED` where the media cannot be encrypted */
export type OpenCallPeer = (options: CallPeerOptions) => CallPeer
