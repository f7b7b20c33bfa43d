// The `error` frame that tells a client why its frame was refused.
import { errorMeanings, type ProtocolError, type RelayFrameOf } from '@sotto/protocol'

/** What an error frame repeats of the refused frame. */
export interface FrameNames {
  readonly id?: string | undefined
  readonly conv_id?: string | undefined
  readonly call_id?: string | undefined
}

export function errorFrame(error: ProtocolError, names: FrameNames): RelayFrameOf<'error'> {
  const { field, rule, words, retryAfterMs, epoch } = error.details
  return {
    type: 'error',
    error: error.code,
    message: field ? `${field} ${rule ?? 'is not valid'}` : (words ?? errorMeanings[error.code]),
    ...(names.id === undefined ? {} : { id: names.id }),
    ...(names.conv_id === undefined ? {} : { conv_id: names.conv_id }),
    ...(names.call_id === undefined ? {} : { call_id: names.call_id }),
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    ...(epoch === undefined ? {} : { epoch }),
  }
}
