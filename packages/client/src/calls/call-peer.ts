// The interface of a peer, which carries the media of a call. `webrtc.ts` is the one for browsers.

/**
 * The maximum of candidates per side and description. A browser has only a few; the relay keeps this many.
 */
export const MAX_CANDIDATES = 64

/** A kind of track. */
export type CallTrackKind = 'audio' | 'video'

/** Which kinds of media a side sends now. */
export interface SentMedia {
  readonly audio: boolean
  readonly video: boolean
}

/** An address at which a side receives media, as `RTCIceCandidate.toJSON` returns it. */
export interface CallCandidate {
  readonly candidate: string
  readonly sdpMid: string | null
  readonly sdpMLineIndex: number | null
  readonly usernameFragment: string | null
}

/** The options of a peer. */
export interface CallPeerOptions {
  readonly iceServers: readonly RTCIceServer[]
  /** Whether media go only through TURN servers. */
  readonly relayOnly: boolean
  /** The stream to send from the beginning. */
  readonly stream: MediaStream | undefined
  /** The 44 bytes of key material of one side, track and epoch. */
  readonly keyOf: (side: 'own' | 'theirs', mid: string, epoch: number) => Promise<Uint8Array>
  /** Calls `run` once after `ms`. Returns a function that cancels it. */
  readonly after: (ms: number, run: () => void) => () => void
  readonly onCandidate: (candidate: CallCandidate) => void
  /**
   * A change of the media connection: `media_interrupted` if a restart may repair it, `media_failed` if not.
   */
  readonly onMedia: (event: 'media_connected' | 'media_interrupted' | 'media_failed' | 'link_poor') => void
  /** Called with the stream that the other side sends. */
  readonly onStream: (stream: MediaStream) => void
  /**
   * Called when this side's keys must not be used any more: the next epoch has to begin. `lost` means that
   * the record of received frames is lost too, so the other side's keys must not be used any more either.
   */
  readonly onEpochOver: (lost: boolean) => void
  readonly onError: (error: unknown) => void
}

/** Carries the media of one call. Sends and receives only encrypted media. */
export interface CallPeer {
  /** Makes this side's offer, in SDP. */
  createOffer(): Promise<string>
  /** Makes this side's answer, in SDP. */
  createAnswer(offer: string): Promise<string>
  takeAnswer(answer: string): Promise<void>
  /**
   * Makes the offer of a restart of the media connection (an ICE restart). Tracks and keys stay the same.
   * @param iceServers the servers to use from now on; if left out, the previous ones
   */
  offerRestart(iceServers?: readonly RTCIceServer[]): Promise<string>
  /** Makes the answer to an offer of a restart. */
  answerRestart(offer: string, iceServers?: readonly RTCIceServer[]): Promise<string>
  addCandidate(candidate: CallCandidate): Promise<void>
  /**
   * Encrypts with the keys of this epoch from now on. Nothing is sent before the first call. Call it once per
   * epoch.
   */
  sendUnder(epoch: number): Promise<void>
  /**
   * Decrypts with the keys of this epoch from now on, and late frames with the keys of the previous epoch.
   */
  receiveUnder(epoch: number): Promise<void>
  /** Sets which kinds of media the other side says it sends. The stream has only tracks of these kinds. */
  expect(media: SentMedia): void
  /** Sends this track for its kind from now on; null sends nothing. */
  setTrack(kind: CallTrackKind, track: MediaStreamTrack | null): Promise<void>
  /** The statistics of the connection, as `RTCPeerConnection.getStats` returns them. */
  stats?(): Promise<RTCStatsReport>
  close(): void
}

/** Creates the peer of a call. @throws ClientError `UNSUPPORTED` if the media cannot be encrypted */
export type OpenCallPeer = (options: CallPeerOptions) => CallPeer
