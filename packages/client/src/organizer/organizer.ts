// What the user decides about conversations and messages on this device: own names, pins, archive, drafts,
// deletion.
import { ConversationId, cleanName, MessageId, PAYLOAD_CHARACTERS } from '@sotto/protocol'
import * as v from 'valibot'
import { ClientError, checkArgument } from '../client-error.ts'
import type { Device } from '../device.ts'
import { type AnyClient, hostPart } from '../module-access.ts'
import { type HostedPart, ModulePart } from '../module-part.ts'
import { nonceOf } from '../secrecy/secrecy.ts'
import type { ConversationSettings, OfflineMessage, StoreChange, StoredMessage } from '../stores/stores.ts'
import { tabMethod } from '../tab-method.ts'

const MAX_NAME_CHARACTERS = 100
/** Longer than a message, because somebody may paste a text and shorten it, or send it in parts. */
const MAX_DRAFT_CHARACTERS = 16 * PAYLOAD_CHARACTERS

/** A decision: a value, or `undefined` to take it back. */
const maybe = <S extends v.GenericSchema>(schema: S) => v.exactOptional(v.union([schema, v.undefined()]))
const Time = v.pipe(v.number(), v.finite())
const Decisions = v.object({
  name: /* @__PURE__ */ maybe(v.string()),
  pinned: /* @__PURE__ */ maybe(Time),
  mutedUntil: /* @__PURE__ */ maybe(Time),
  archived: /* @__PURE__ */ maybe(v.boolean()),
  draft: /* @__PURE__ */ maybe(v.pipe(v.string(), v.maxLength(MAX_DRAFT_CHARACTERS))),
  draftReplyToId: /* @__PURE__ */ maybe(MessageId),
  markedUnread: /* @__PURE__ */ maybe(v.boolean()),
})

/** What to change about a conversation. A field with the value `undefined` is taken back. */
export interface ConversationDecisions {
  /** The user's own name for the contact: one line of at most 100 characters. */
  readonly name?: string | undefined
  /** Pins it. Pinned conversations come first, sorted by this number, the lowest first. */
  readonly pinned?: number | undefined
  /** Mutes it until this time, in milliseconds since 1970. The application leaves out notifications. */
  readonly mutedUntil?: number | undefined
  /** Archives it. A received message takes it out of the archive, unless it is muted then. */
  readonly archived?: boolean | undefined
  /** A text that the user has begun to write, of at most 1,048,576 UTF-16 units. */
  readonly draft?: string | undefined
  /** The id of the message that the draft replies to. It may be there before the text is. */
  readonly draftReplyToId?: string | undefined
  /** Marks it as unread, on this device only. Take it back when the user opens the conversation. */
  readonly markedUnread?: boolean | undefined
}

/** Names a stored message. A `StoredMessage` is one. */
export type MessageName = Pick<StoredMessage, 'conversationId' | 'isMe' | 'id'>

async function decide(device: Device, contact: string, decisions: ConversationDecisions): Promise<void> {
  const engine = device.needEngine()
  const { settings } = engine.messages
  const { conversationId } = engine.sessions.get(contact)
  const checked = checkArgument(Decisions, decisions, 'a decision about a conversation is not valid')
  const { name, pinned, mutedUntil, archived, draft, draftReplyToId, markedUnread } = {
    ...settings.of(conversationId),
    ...checked,
  }
  const cleaned = cleanName(name ?? '')
  if (cleaned.length > MAX_NAME_CHARACTERS)
    throw new ClientError('INVALID_ARGUMENT', `a name has at most ${MAX_NAME_CHARACTERS} characters`)
  const decided: ConversationSettings = {
    conversationId,
    ...(cleaned === '' ? {} : { name: cleaned }),
    ...(pinned === undefined ? {} : { pinned }),
    ...(mutedUntil === undefined ? {} : { mutedUntil }),
    ...(archived ? { archived } : {}),
    ...(draft ? { draft } : {}),
    ...(draftReplyToId ? { draftReplyToId } : {}),
    ...(markedUnread ? { markedUnread } : {}),
  }
  await engine.work(settings.set(decided))
}

/** Deletes messages here. One that waits to be sent is not sent. */
async function removeMessages(
  device: Device,
  messages: readonly v.InferOutput<typeof Name>[],
): Promise<void> {
  const engine = device.needEngine()
  const { outbox } = engine.messages
  const { store } = device.platform
  const found = await Promise.all(
    messages.map((each) => store.findMessage(each.conversationId, each.isMe, each.id)),
  )
  // Another conversation may have a message of the same id in the outbox.
  const waiting = found.flatMap((message) => (message?.isMe && message.status === 'sending' ? [message] : []))
  const changes: readonly StoreChange[] = [
    ...messages.map((message) => ({ change: 'message_removed', ...message }) as const),
    ...waiting.map(({ id }) => ({ change: 'outbox_removed', internalId: id }) as const),
  ]
  await engine.work(engine.journal.write(changes))
  for (const { id } of waiting) outbox.withdraw(id)
}

async function clear(device: Device, contact: string): Promise<void> {
  const engine = device.needEngine()
  const { outbox, posting } = engine.messages
  const { conversationId } = engine.sessions.get(contact)
  const cleared = posting.turns.run(async () => {
    const intents = await device.platform.store.listOutbox()
    const waiting = intents.filter((intent) => intent.conversationId === conversationId)
    const unread = await device.platform.store.listOfflineMessages(conversationId)
    await engine.journal.write([
      { change: 'messages_removed', conversationId },
      ...unread.flatMap(removalOf),
      ...waiting.map(({ internalId }) => ({ change: 'outbox_removed', internalId }) as const),
    ])
    for (const { internalId } of waiting) outbox.withdraw(internalId)
  })
  await engine.work(cleared)
}

/** Deletes a message that cannot be decrypted yet. What is left is as `tombstoneOf` leaves it. */
function removalOf({ conversationId, seq, id, payloadEncrypted }: OfflineMessage): readonly StoreChange[] {
  const nonce = nonceOf(payloadEncrypted)
  const deleted = { text: '', time: 0, status: 'delivered', removed: true } as const
  return [
    { change: 'offline_removed', conversationId, seq },
    { change: 'message', message: { conversationId, id, isMe: false, seq, nonce, ...deleted } },
  ]
}

const Contact = v.string()
const Name = v.object({ conversationId: ConversationId, isMe: v.boolean(), id: MessageId })
const methods = {
  set: /* @__PURE__ */ tabMethod(
    'organizer.set',
    { takes: v.tuple([Contact, Decisions]), answers: v.void() },
    decide,
  ),
  removeMessages: /* @__PURE__ */ tabMethod(
    'organizer.removeMessages',
    { takes: v.tuple([v.pipe(v.array(Name), v.readonly())]), answers: v.void() },
    removeMessages,
  ),
  clear: /* @__PURE__ */ tabMethod(
    'organizer.clear',
    { takes: v.tuple([Contact]), answers: v.void() },
    clear,
  ),
}
const part = /* @__PURE__ */ new ModulePart<Device>({
  methods: [methods.set, methods.removeMessages, methods.clear],
  open: (device) => device,
})

/**
 * What the user decides about conversations and messages, on this device only: the contact and other devices
 * are told nothing. Create it once per client: `const organizer = new Organizer(client)`. `conversation` and
 * `conversations` answer what was decided, and `changes` says when it has changed, in every tab.
 *
 * A contact is named by its alias or by the id of the conversation with it.
 */
export class Organizer {
  readonly #part: HostedPart<Device>

  constructor(client: AnyClient) {
    this.#part = hostPart(client, part)
  }

  /**
   * Changes what was decided about a conversation; other decisions stay. Resolves once it is stored.
   * @throws ClientError `UNKNOWN_CONTACT`, `INVALID_ARGUMENT`, `STORE_FAILED`.
   */
  set(contact: string, decisions: ConversationDecisions): Promise<void> {
    return this.#part.call(methods.set, [contact, decisions])
  }

  /**
   * Deletes messages on this device. The contact keeps them: see `retract`. A message that still waits to be
   * sent is not sent; one that is under way may arrive. The message cannot come back, not even if the relay
   * repeats it, because its id, number and nonce are kept. Unknown messages are ignored.
   * @throws ClientError `STORE_FAILED`.
   */
  removeMessages(messages: readonly MessageName[]): Promise<void> {
    return this.#part.call(methods.removeMessages, [
      messages.map(({ conversationId, isMe, id }) => ({ conversationId, isMe, id })),
    ])
  }

  /**
   * Deletes all messages of a conversation on this device, as `removeMessages` does, and those that cannot be
   * decrypted yet.
   * @throws ClientError `UNKNOWN_CONTACT`, `STORE_FAILED`.
   */
  clear(contact: string): Promise<void> {
    return this.#part.call(methods.clear, [contact])
  }
}
