// The way of a peer's message into the store: checked, guarded, decrypted, kept, and only then confirmed.
import { CryptoError, decodeContent, decryptMessage, MESSAGE_CRYPTO_VERSION } from '@sotto/crypto'
import type { ConversationId, RelayFrame } from '@sotto/protocol'
import { ClientError } from './client-error.ts'
import type { Confirmations } from './confirmations.ts'
import { fieldsOf } from './content.ts'
import type { Context } from './context.ts'
import type { OfflineMessage, SessionRecord, StoreChange, StoredMessage } from './stores/records.ts'

type MsgFrame = Extract<RelayFrame, { type: 'msg' }>

/** What is kept although it cannot be read yet; a relay could make up conversations without end. */
const MAX_OFFLINE_MESSAGES = 20_000

/** Receives messages. */
export class Inbox {
  readonly #context: Context
  readonly #confirmations: Confirmations

  constructor(context: Context, confirmations: Confirmations) {
    this.#context = context
    this.#confirmations = confirmations
  }

  async onMsg(frame: MsgFrame): Promise<void> {
    if (this.#confirmations.isHeld(frame.conv_id)) return
    if (await this.#isKnown(frame)) {
      // Perhaps on its way to the disk still: an empty write confirms after it.
      this.#keep(frame, [])
      return
    }
    const offline: OfflineMessage = {
      conversationId: frame.conv_id,
      seq: frame.seq,
      payloadEncrypted: frame.payload,
      createdAt: frame.at,
      id: frame.id,
      fromAliasId: frame.from,
      cryptoVersion: frame.crypto_v,
    }
    const isRead = await this.#read(offline, (message) =>
      this.#keep(frame, [{ change: 'message', message }], () => this.#announce(message)),
    )
    if (isRead) return
    this.#context.hintFriendSync()
    if ((await this.#context.store.countOfflineMessages()) >= MAX_OFFLINE_MESSAGES) {
      this.#confirmations.hold(frame.conv_id)
      this.#context.emitter.emit(
        'error',
        new ClientError('STORE_FAILED', 'too many messages wait that cannot be read yet'),
      )
      return
    }
    this.#keep(frame, [{ change: 'offline_added', message: offline }])
  }

  /** Tries again what could not be decrypted in a conversation. */
  async retryOffline(conversationId: ConversationId): Promise<void> {
    const { store, journal } = this.#context
    for (const offline of await store.listOfflineMessages(conversationId)) {
      const removed: StoreChange = { change: 'offline_removed', conversationId, seq: offline.seq }
      const isShown = (await store.findMessage(conversationId, false, offline.id)) !== undefined
      if (isShown || (await store.hasNonce(conversationId, nonceOf(offline.payloadEncrypted)))) {
        journal.record([removed])
        continue
      }
      await this.#read(offline, (message) =>
        journal.record([removed, { change: 'message', message }], () => this.#announce(message)),
      )
    }
  }

  /** Tries again every conversation that has a session. */
  async retryAllOffline(): Promise<void> {
    const offline = await this.#context.store.listOfflineMessages()
    for (const conversationId of new Set(offline.map((message) => message.conversationId))) {
      if (this.#context.sessions.find(conversationId)) await this.retryOffline(conversationId)
    }
  }

  async #isKnown(frame: MsgFrame): Promise<boolean> {
    const { store } = this.#context
    if ((await store.findMessageBySeq(frame.conv_id, frame.seq)) !== undefined) return true
    // The same message under another seq: a relay that plays it twice.
    if ((await store.findMessage(frame.conv_id, false, frame.id)) !== undefined) return true
    // The payload of an earlier message under another id, or one's own sent back: the key alone tells neither.
    if (await store.hasNonce(frame.conv_id, nonceOf(frame.payload))) return true
    return (await store.findOfflineMessage(frame.conv_id, frame.seq)) !== undefined
  }

  #keep(frame: MsgFrame, changes: readonly StoreChange[], after: () => void = () => {}): void {
    this.#context.journal.record(changes, () => {
      this.#confirmations.add(frame.conv_id, frame.seq, frame.from)
      after()
    })
  }

  /**
   * Reads a message and keeps it; false for one that cannot be read now and may be later. It is kept in the step in which
   * its session was last looked at: between the two nobody can refuse the keys.
   */
  async #read(offline: OfflineMessage, keep: (message: StoredMessage) => void): Promise<boolean> {
    if (offline.cryptoVersion !== MESSAGE_CRYPTO_VERSION) return false
    for (;;) {
      const session = this.#findSession(offline)
      if (!session) return false
      const plaintext = await this.#decrypt(offline, session)
      const { sessions } = this.#context
      // A friend list came meanwhile: the keys are others, and what these open, or do not, says nothing.
      if (!sessions.isCurrent(session)) continue
      // Under a name nobody has explained yet, it may be somebody else's.
      if (plaintext === undefined && !sessions.isTheirAlias(session, offline.fromAliasId)) return false
      keep(messageOf(offline, session, plaintext))
      return true
    }
  }

  /** The session a message can be read with now. */
  #findSession(offline: OfflineMessage): SessionRecord | undefined {
    const { sessions } = this.#context
    const session = sessions.find(offline.conversationId)
    if (!session || sessions.isAnothersAlias(session, offline.fromAliasId)) return undefined
    return sessions.guard(session) ? session : undefined
  }

  /** The plaintext, or undefined for a payload that this key does not open. */
  async #decrypt(offline: OfflineMessage, session: SessionRecord): Promise<string | undefined> {
    try {
      return await decryptMessage({
        sessionKey: this.#context.sessions.keyOf(session),
        payload: offline.payloadEncrypted,
      })
    } catch (error) {
      if (error instanceof CryptoError) return undefined
      throw error
    }
  }

  #announce(message: StoredMessage): void {
    this.#context.emitter.emit('message', message)
    if (message.msgType === 'undecryptable') {
      const error = new ClientError(
        'UNDECRYPTABLE',
        `a message from ${message.fromAliasId} does not open with the key shared with them`,
      )
      this.#context.emitter.emit('error', error)
    }
  }
}

function messageOf(
  offline: OfflineMessage,
  session: SessionRecord,
  plaintext: string | undefined,
): StoredMessage {
  const base = {
    id: offline.id,
    conversationId: offline.conversationId,
    isMe: false,
    time: offline.createdAt,
    status: 'delivered',
    seq: offline.seq,
    fromAliasId: session.theirAliasId,
  } as const
  if (plaintext === undefined) return { ...base, text: '', msgType: 'undecryptable' }
  const content = decodeContent(plaintext)
  const replyToId = content.replyToId
  const nonce = nonceOf(offline.payloadEncrypted)
  return { ...base, nonce, ...fieldsOf(content), ...(replyToId === undefined ? {} : { replyToId }) }
}

/** The nonce of a payload: its first 12 bytes, which are its first 16 characters. */
export function nonceOf(payload: string): string {
  return payload.slice(0, 16)
}
