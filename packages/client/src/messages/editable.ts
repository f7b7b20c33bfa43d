// Which messages can be edited, and how long.
import type { StoredMessage } from '../stores/stores.ts'

const DAY_MS = 86_400_000
/** How long a message can be edited, from when the relay took it. */
const EDITABLE_MS = DAY_MS
/** How long an edit by the contact is taken, from when its message came: an edit may wait at the relay. */
const TAKEN_MS = EDITABLE_MS + 30 * DAY_MS

/**
 * Whether this account can edit a message: it is a text of its own with forward secrecy, was neither
 * refused nor retracted, and is not older than a day.
 */
export function isEditable(message: StoredMessage, nowMs: number): boolean {
  return message.isMe && message.status !== 'failed' && isText(message) && nowMs - message.time <= EDITABLE_MS
}

/**
 * Whether an edit by the contact is taken. The contact's client decides how long a message can be edited;
 * this bound keeps the older history as it was read.
 */
export function takesEdit(message: StoredMessage, nowMs: number): boolean {
  return !message.isMe && isText(message) && nowMs - message.time <= TAKEN_MS
}

function isText({ version, msgType, retracted, removed }: StoredMessage): boolean {
  return version === 3 && (msgType === undefined || msgType === 'text') && !retracted && !removed
}
