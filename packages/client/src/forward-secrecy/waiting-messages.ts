// Under which version the messages of a conversation leave that certainly never left this device.
import { encryptMessage, parseSealedFile } from '@sotto/crypto'
import { PAYLOAD_CHARACTERS } from '@sotto/protocol'
import { contentOf, outgoing } from '../messages/content.ts'
import { nonceOf } from '../secrecy/secrecy.ts'
import type { OutboxIntent, SessionRecord, StoreChange, StoredMessage } from '../stores/stores.ts'
import type { ForwardContext } from './forward-context.ts'

type Context = Pick<ForwardContext, 'journal' | 'outbox' | 'platform' | 'sessions' | 'store'>

/**
 * Messages that were never sent go under version 3 if the contact speaks it. If the user has permitted an
 * older version, those that wait for version 3 leave under the older one. All others may leave as they are.
 */
export async function chooseVersions(context: Context, session: SessionRecord): Promise<void> {
  if (session.speaks) return moveUp(context, session)
  if (session.lowered) await moveDown(context, session)
  const { outbox, journal } = context
  const waiting = outbox.neverSent(session.conversationId).filter(({ unsent }) => unsent)
  const leaving = waiting.map(({ unsent: _, ...intent }) => intent)
  if (leaving.length === 0) return
  await journal.write(leaving.map((intent): StoreChange => ({ change: 'outbox_added', intent })))
  for (const intent of leaving) outbox.replace(intent)
}

async function moveUp(context: Context, { conversationId }: SessionRecord): Promise<void> {
  for (const { payload: _, unsent: _unsent, ...before } of context.outbox.neverSent(conversationId)) {
    const message = await context.store.findMessage(conversationId, true, before.internalId)
    if (!message) continue
    const { nonce: _nonce, ...rest } = message
    await replace(context, { ...rest, version: 3 }, { ...before, version: 3 })
  }
}

/**
 * Hidden messages, repetitions and files with keys of their own have no form under an older version. They
 * wait for version 3.
 */
async function moveDown(context: Context, session: SessionRecord): Promise<void> {
  const { outbox, platform, sessions, store } = context
  const { conversationId } = session
  const waiting = outbox.list(conversationId).toSorted((a, b) => firstPlace(a) - firstPlace(b))
  const inFlight = new Set(outbox.inFlight(conversationId))
  for (const intent of waiting) {
    const { version, epoch: _epoch, place: _place, ...rest } = intent
    const before = { ...rest, ...(firstPlace(intent) < 0 && { place: firstPlace(intent) }) }
    // What was written under the older version meanwhile leaves after what was written earlier.
    if (version === undefined && !inFlight.has(intent)) outbox.replace(intent)
    if (before.payload !== undefined || before.about || before.resends) continue
    const message = await store.findMessage(conversationId, true, before.internalId)
    const content = message && contentOf(message)
    if (!content || (content.kind !== 'text' && parseSealedFile(content.mediaKey))) continue
    const { plaintext } = outgoing(content, message.replyToId)
    const sessionKey = sessions.keyOf(session)
    const payload = await encryptMessage({ sessionKey, plaintext, randomBytes: platform.random })
    // Other keys may have come meanwhile, or the contact speaks version 3 again.
    if (!sessions.isCurrent(session) || sessions.find(conversationId)?.speaks) return
    if (payload.length > PAYLOAD_CHARACTERS) continue
    const { version: _version, ...lower } = message
    await replace(context, { ...lower, nonce: nonceOf(payload) }, { ...before, payload })
  }
}

/** The place of what was taken back from the relay: before all others. */
function firstPlace({ place = 0 }: OutboxIntent): number {
  return Math.min(0, place)
}

async function replace(
  { journal, outbox }: Context,
  message: StoredMessage,
  intent: OutboxIntent,
): Promise<void> {
  await journal.write([
    { change: 'message', message },
    { change: 'outbox_added', intent },
  ])
  outbox.replace(intent)
}
