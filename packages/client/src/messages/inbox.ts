// Receives messages: checks, decrypts and stores each, and confirms it only after that.
import { decodeContent } from '@sotto/crypto'
import type { ConversationId, RelayFrame } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type { Sessions } from '../contacts/contacts.ts'
import type { Emitter } from '../events/events.ts'
import { canDecrypt, decryptPayload, nonceOf } from '../secrecy/secrecy.ts'
import type {
  ClientStore,
  Journal,
  OfflineMessage,
  SessionRecord,
  StoreChange,
  StoredMessage,
} from '../stores/stores.ts'
import type { Confirmations } from './confirmations.ts'
import { fieldsOf } from './content.ts'
import type { Forward } from './forward.ts'
import type { Settings } from './settings.ts'

type MsgFrame = Extract<RelayFrame, { type: 'msg' }>

/**
 * How many undecryptable messages are stored for later. Without a limit a relay could fill the disk with
 * them.
 */
const MAX_OFFLINE_MESSAGES = 20_000
/** The version with forward secrecy. */
const FORWARD = 3

export interface InboxContext {
  readonly store: Pick<
    ClientStore,
    | 'countOfflineMessages'
    | 'findMessage'
    | 'findMessageBySeq'
    | 'findOfflineMessage'
    | 'hasNonce'
    | 'listOfflineMessages'
  >
  readonly journal: Pick<Journal, 'record'>
  readonly emitter: Pick<Emitter, 'emit'>
  readonly sessions: Pick<
    Sessions,
    'noteSecrecy' | 'find' | 'guard' | 'isAnothersAlias' | 'isCurrent' | 'isTheirAlias' | 'keyOf'
  >
  /** Undefined if messages have no forward secrecy. */
  readonly forward?: Pick<Forward, 'onAnnounced' | 'receive'> | undefined
  /** Fetches the friend list soon: it may contain the session for a message that cannot be read. */
  readonly hintFriendSync: () => void
  /** Whether the relay has this device's key for the account. Never rejects. */
  readonly proveOwnKey: () => Promise<boolean>
}

export class Inbox {
  readonly #context: InboxContext
  readonly #confirmations: Confirmations
  readonly #settings: Pick<Settings, 'woken'>
  /** Whether the messages of coming frames are known. */
  readonly #lookups = new Map<MsgFrame, Promise<boolean>>()

  constructor(context: InboxContext, confirmations: Confirmations, settings: Pick<Settings, 'woken'>) {
    this.#context = context
    this.#confirmations = confirmations
    this.#settings = settings
  }

  /** Handles a message. `following` are the next frames, as far as they are here. */
  async onMsg(frame: MsgFrame, following: readonly RelayFrame[] = []): Promise<void> {
    if (this.#confirmations.isHeld(frame.conv_id, frame.seq)) return
    const { forward } = this.#context
    if (frame.crypto_v === FORWARD && forward) return forward.receive(frame, following)
    if (await this.#isKnown(frame, following)) {
      // The earlier copy may still be being written. An empty write comes after it, and then confirms.
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
    const isRead = await this.#read(offline, (message, announced) =>
      this.#keep(frame, [...this.#stored(message), ...announced], () => this.#announce(message)),
    )
    if (isRead) return
    this.#context.hintFriendSync()
    // If this device has the wrong key, the relay keeps the message until a device with the right one reads
    // it.
    if (!(await this.#context.proveOwnKey())) return this.#confirmations.hold(frame.conv_id)
    if ((await this.#context.store.countOfflineMessages()) >= MAX_OFFLINE_MESSAGES) {
      this.#confirmations.hold(frame.conv_id)
      this.#context.emitter.emit(
        'error',
        new ClientError('STORE_FAILED', 'too many undecryptable messages are stored'),
      )
      return
    }
    this.#keep(frame, [{ change: 'offline_added', message: offline }])
  }

  /** Tries to decrypt the stored unreadable messages of a conversation again. */
  async retryOffline(conversationId: ConversationId): Promise<void> {
    const { store, journal } = this.#context
    for (const offline of await store.listOfflineMessages(conversationId)) {
      const removed: StoreChange = { change: 'offline_removed', conversationId, seq: offline.seq }
      const isShown = (await store.findMessage(conversationId, false, offline.id)) !== undefined
      if (isShown || (await store.hasNonce(conversationId, nonceOf(offline.payloadEncrypted)))) {
        journal.record([removed])
        continue
      }
      await this.#read(offline, (message, announced) =>
        journal.record([removed, ...this.#stored(message), ...announced], () => this.#announce(message)),
      )
    }
  }

  /** The same for every conversation that has a session. */
  async retryAllOffline(): Promise<void> {
    const offline = await this.#context.store.listOfflineMessages()
    for (const conversationId of new Set(offline.map((message) => message.conversationId))) {
      if (this.#context.sessions.find(conversationId)) await this.retryOffline(conversationId)
    }
  }

  #isKnown(frame: MsgFrame, following: readonly RelayFrame[]): Promise<boolean> {
    const begun = this.#lookups.get(frame)
    this.#lookups.delete(frame)
    if (begun) return begun
    // What is left belongs to frames that were dropped.
    this.#lookups.clear()
    const names = new Set(namesOf(frame))
    const found = this.#lookUp(frame)
    // Messages come in bursts. One look-up after another takes ten times as long in a browser's database.
    for (const next of following) {
      // What another frame may change is looked up after it.
      if (next.type !== 'msg' || namesOf(next).some((name) => names.has(name))) break
      for (const name of namesOf(next)) names.add(name)
      const lookup = this.#lookUp(next)
      // The handling of its frame reports the error.
      lookup.catch(() => {})
      this.#lookups.set(next, lookup)
    }
    return found
  }

  async #lookUp({ conv_id, seq, id, payload }: MsgFrame): Promise<boolean> {
    const { store } = this.#context
    const found = await Promise.all([
      store.findMessageBySeq(conv_id, seq),
      // The same message under another seq: the relay replays it.
      store.findMessage(conv_id, false, id),
      // The payload of an earlier message under another id, or of a message that this account sent. Both
      // decrypt with the session key, so only the nonce reveals the replay.
      store.hasNonce(conv_id, nonceOf(payload)),
      store.findOfflineMessage(conv_id, seq),
    ])
    return found.some(Boolean)
  }

  #stored(message: StoredMessage): StoreChange[] {
    return [{ change: 'message', message }, ...this.#settings.woken(message.conversationId)]
  }

  #keep(frame: MsgFrame, changes: readonly StoreChange[], after: () => void = () => {}): void {
    this.#context.journal.record(changes, () => {
      this.#confirmations.add(frame.conv_id, frame.seq, frame.from)
      after()
    })
  }

  /**
   * Decrypts a message and stores it. @returns false if it cannot be read now but may be later. The session
   * is checked in the same tick of the event loop in which the message is stored, so the keys cannot be
   * refused in between.
   */
  async #read(
    offline: OfflineMessage,
    keep: (message: StoredMessage, announced: readonly StoreChange[]) => void,
  ): Promise<boolean> {
    if (!canDecrypt(offline.cryptoVersion)) return false
    for (;;) {
      const session = this.#findSession(offline)
      if (!session) return false
      const { sessions } = this.#context
      const plaintext = await decryptPayload(sessions.keyOf(session), offline.payloadEncrypted)
      if (plaintext === undefined && !(await this.#context.proveOwnKey())) return false
      // A friend list changed the session in the meantime, so the result with the old key does not count.
      if (!sessions.isCurrent(session)) continue
      // Under an alias that no friend list has explained yet, the message may come from another account.
      if (plaintext === undefined && !sessions.isTheirAlias(session, offline.fromAliasId)) return false
      const content =
        plaintext === undefined ? undefined : decodeContent(plaintext, { sender: session.theirEcdhPublicKey })
      keep(messageOf(offline, session, content), content?.speaks ? this.#announced(session) : [])
      return true
    }
  }

  /** The contact says that its client has forward secrecy. The change that keeps it. */
  #announced(session: SessionRecord): readonly StoreChange[] {
    const { sessions, forward } = this.#context
    if (!forward || session.speaks) return []
    forward.onAnnounced(session.conversationId)
    return [sessions.noteSecrecy(session, { speaks: 3 })]
  }

  /** The session that can decrypt this message now, if any. */
  #findSession(offline: OfflineMessage): SessionRecord | undefined {
    const { sessions } = this.#context
    const session = sessions.find(offline.conversationId)
    if (!session || sessions.isAnothersAlias(session, offline.fromAliasId)) return undefined
    return sessions.guard(session) ? session : undefined
  }

  #announce(message: StoredMessage): void {
    this.#context.emitter.emit('message', message)
    if (message.msgType === 'undecryptable') {
      const error = new ClientError(
        'UNDECRYPTABLE',
        `the session key does not decrypt a message from ${message.fromAliasId}`,
      )
      this.#context.emitter.emit('error', error)
    }
  }
}

/** The `seq`, the id and the nonce of a message. No other message of its conversation has one of them. */
function namesOf({ conv_id, seq, id, payload }: MsgFrame): readonly string[] {
  return [seq, id, nonceOf(payload)].map((name) => conv_id + name)
}

function messageOf(
  offline: OfflineMessage,
  session: SessionRecord,
  content: ReturnType<typeof decodeContent> | undefined,
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
  if (content === undefined) return { ...base, text: '', msgType: 'undecryptable' }
  const { replyToId } = content
  const nonce = nonceOf(offline.payloadEncrypted)
  return { ...base, nonce, ...fieldsOf(content), ...(replyToId && { replyToId }) }
}
