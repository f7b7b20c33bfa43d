// Copies a ClientError from one tab to another: the object that crosses the channel, and the error made from
// it.
import { isErrorCode } from '@sotto/protocol'
import * as v from 'valibot'
import { ClientError, clientErrorCodes } from '../client-error.ts'

/** The parts of a ClientError that cross the channel. Its `cause` may be anything, so it does not. */
export const CarriedError = v.object({
  code: v.picklist(clientErrorCodes),
  message: v.string(),
  refusal: v.optional(v.pipe(v.string(), v.guard(isErrorCode))),
  account: v.optional(v.object({ uuid: v.string(), alias_id: v.string() })),
  retryAfterMs: v.optional(v.number()),
})
/** See {@link CarriedError}. */
export type CarriedError = v.InferOutput<typeof CarriedError>

export function carryError({ code, message, refusal, account, retryAfterMs }: ClientError): CarriedError {
  return { code, message, refusal, account, retryAfterMs }
}

export function toClientError({ code, message, ...details }: CarriedError): ClientError {
  return new ClientError(code, message, details)
}
