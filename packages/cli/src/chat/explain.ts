// Errors in words for people.
import { ClientError } from '@sotto/client'
import { sanitizeLine } from '../sanitize.ts'

type Refusal = NonNullable<ClientError['refusal']>
type Words = Partial<Record<Refusal, string>>

/** The refusals of the relay that a person can run into. */
const REFUSALS: Words = {
  NOT_FOUND: 'It does not exist, or not any more.',
  SELF_REQUEST: 'That is your own alias.',
  ALREADY_FRIENDS: 'You are friends already.',
  UNBLOCK_FIRST: 'You have blocked this account; /unblock comes first.',
  TOO_MANY_FRIENDS: 'Your list of friends is full.',
  REQUESTS_FULL: 'Too many friend requests wait for an answer there. Try again another day.',
  NOT_FRIENDS: 'You are not friends, or no longer friends.',
  EXPIRED: 'It expired before it was delivered.',
  MAILBOX_FULL: 'Too many messages wait there already. Try again later.',
  NOT_CHANNEL_OWNER: 'Only the owner of the channel can do this.',
  QUOTA_EXCEEDED: 'All your seats for channels are in use.',
  TOO_MANY_SUBSCRIPTIONS: 'You have subscribed to as many channels as are allowed.',
  OWN_CHANNEL: 'The channel is your own.',
  CHANNEL_TAKEN: 'Somebody else is buying this channel, or has just bought it.',
  ALIAS_TAKEN: 'Somebody has this alias already, or is buying it.',
  ORDER_NOT_CONFIRMED: 'The order is not paid, or its payment is not confirmed yet.',
  ORDER_CLOSED: 'Nothing more is to be paid for this order.',
  TOO_MANY_ORDERS: 'You have too many unpaid orders. Pay one, or let it expire.',
  PAYMENTS_UNAVAILABLE: 'This relay cannot take payments now.',
  STORAGE_FULL: 'Your space for files at this relay is full.',
  TOO_MANY_UPLOADS: 'Too many uploads of yours are unfinished.',
  MEDIA_UNAVAILABLE: 'This relay cannot take or give files now.',
  PAYLOAD_TOO_LARGE: 'It is too large for this relay.',
  RELAY_FULL: 'The disk of the relay is full. Only its operator can make room.',
  INVITE_REQUIRED: 'This relay takes new accounts only with an invite.',
  INVITE_INVALID: 'This invite is unknown, used up, revoked or has ended. Ask for a new one.',
  REGISTRATION_CLOSED: 'This relay takes no new accounts.',
  INTERNAL: 'The relay failed. Its operator finds the cause in its log.',
}

/** The refusals that come with the operator's own words. */
const WITH_REASON: Words = {
  ACCOUNT_SUSPENDED: 'The operator of the relay has suspended your account',
  CHANNEL_CLOSED: 'The operator of the relay has closed this channel',
}
/** Longer than a reason with its end. */
const LONGEST_REASON = 700

/** A refusal of the relay, by its code, in words. */
export function explainRefusal(code: string | undefined): string {
  if (code === undefined) return 'No reason was given.'
  const known: Readonly<Record<string, string | undefined>> = REFUSALS
  return known[code] ?? `The relay said ${sanitizeLine(code)}.`
}

/** An error in one line for a person, safe to print. */
export function explain(error: unknown): string {
  if (!(error instanceof ClientError))
    return sanitizeLine(`unexpected: ${error instanceof Error ? error.message : error}`, 300)
  if (error.refusal === undefined) return sanitizeLine(error.message, 300)
  if (error.refusal === 'RATE_LIMITED') {
    const seconds = Math.ceil((error.retryAfterMs ?? 60_000) / 1000)
    return `That was too often. Try again in ${seconds} s.`
  }
  const withReason = WITH_REASON[error.refusal]
  if (withReason) return sanitizeLine(error.message.replace(error.refusal, withReason), LONGEST_REASON)
  return REFUSALS[error.refusal] ?? sanitizeLine(error.message, 300)
}

/** What a confirmed payment is for, in words. */
export function explainPayment(refId: string): string {
  if (refId === 'channel_quota') return 'Your payment is confirmed: you can have one more channel.'
  if (refId.startsWith('ch_')) return 'Your payment is confirmed: the channel is yours.'
  const alias = sanitizeLine(refId)
  return `Your payment for ${alias} is confirmed. /bind ${alias} makes it your alias.`
}

/** An outcome that is no success and no failure of the program. Its message is shown as it is. */
export class Notice extends Error {
  override readonly name = 'Notice'
}

/** Runs `work`. Of these refusals it makes notices with these words. */
export async function inWords<T>(words: Words, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const text = error instanceof ClientError && error.refusal ? words[error.refusal] : undefined
    throw text === undefined ? error : new Notice(text, { cause: error })
  }
}
