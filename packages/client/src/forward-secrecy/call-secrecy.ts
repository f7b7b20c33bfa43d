// What calls need of version 3. What it does is a script of its own, which is loaded with the first use.
import type { Bytes, CallSignal, CallSignalFields, CallSignalRefusal, CallSignalType } from '@sotto/crypto'
import type { SessionRecord } from '../stores/stores.ts'

/** A signal to seal. */
export interface SignalToSeal {
  readonly type: CallSignalType
  /** This side's alias in this call. */
  readonly from: string
  readonly callId: string
  /** The epoch of the conversation that the keys of the call's media are of. */
  readonly callEpoch: number
  readonly fields: CallSignalFields
}

/** A call frame as received. */
export interface ReceivedSignalFrame {
  readonly type: string
  readonly call_id: string
  readonly from: string
  readonly crypto_v: number
  readonly payload: string
}

/** The nonces of accepted signals: a `SeenCallNonces`. */
export interface SeenNonces {
  has(nonce: string, nowMs: number): boolean
}

/**
 * What opening a signal gives. `UNKNOWN_EPOCH`: this device has no keys of its epoch any more. It is `later`
 * if its epoch has not begun here yet.
 */
export type OpenedSignal =
  | { readonly ok: true; readonly signal: CallSignal & { readonly callEpoch: number } }
  | { readonly ok: false; readonly reason: CallSignalRefusal | 'UNKNOWN_EPOCH' }
  | 'later'

/** The secrets of the two sides of a call, 32 bytes each. */
export interface MediaSecrets {
  readonly own: Bytes
  readonly theirs: Bytes
}

/** The calls of one identity under version 3. */
export interface CallSecrecy {
  /**
   * The epoch that a new call begins in; undefined if the contact does not speak version 3. Waits until the
   * conversation has a group that is surely the present one, and begins one if there is none.
   * @throws ClientError `NETWORK` if there is none in time, `NOT_ALLOWED` if the user has to decide first,
   *   and the errors of a request
   */
  begin(session: SessionRecord): Promise<number | undefined>
  /**
   * The payload of a signal, sealed in the present epoch.
   * @throws ClientError `UNDECRYPTABLE` without a group
   */
  seal(session: SessionRecord, signal: SignalToSeal): Promise<string>
  /**
   * Opens a signal of a contact.
   * @param again called once the epoch of a signal that came too early has begun here
   * @returns undefined if it is to be opened under version 2
   */
  open(
    session: SessionRecord,
    frame: ReceivedSignalFrame,
    seenNonces: SeenNonces,
    again: () => void,
  ): Promise<OpenedSignal | undefined>
  /**
   * The secrets that the media keys of a call are derived from.
   * @throws ClientError `UNDECRYPTABLE` if the keys of that epoch are gone
   */
  mediaSecrets(session: SessionRecord, callId: string, epoch: number): Promise<MediaSecrets>
}
