// Which records of a store an archive has, and how they are read and written.
import { type ConversationId, check } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import {
  type ClientStore,
  type OutboxIntent,
  StoreChange,
  type StoredIdentity,
  type StoredMessage,
  stepsAfter,
} from '../stores/stores.ts'

/** How many messages are read from the store, or changes written to it, at a time. */
const STEP = 500

/**
 * Every kind of change, and whether archives contain it. The others delete or correct records, or belong to
 * one device: a new kind must be placed here.
 */
const KINDS: Readonly<Record<StoreChange['change'], 'archived' | 'not archived'>> = {
  clear: 'not archived',
  vault: 'not archived',
  vault_removed: 'not archived',
  identity: 'archived',
  session: 'archived',
  session_removed: 'not archived',
  trust: 'archived',
  friends: 'archived',
  message: 'archived',
  message_patch: 'not archived',
  message_removed: 'not archived',
  messages_removed: 'not archived',
  outbox_added: 'archived',
  outbox_removed: 'not archived',
  retract_added: 'archived',
  retract_removed: 'not archived',
  offline_added: 'archived',
  offline_removed: 'not archived',
  read_mark: 'archived',
  settings: 'archived',
  call_logged: 'archived',
  call_removed: 'not archived',
  app_data: 'archived',
  app_data_removed: 'not archived',
  // Whoever imports an archive would use keys a second time.
  secret: 'not archived',
  secrets_removed: 'not archived',
}

/**
 * Everything that a store holds for its identity, as the changes that would write it. The client may go on
 * meanwhile: a message that cannot be decrypted yet is read before its conversation, because it may move
 * there, and is recognised if it is there twice. What waits to be sent is there only with its message, so
 * that nothing is sent from an archive that the user has taken back meanwhile.
 */
export async function* readRecords(store: ClientStore): AsyncGenerator<StoreChange> {
  const identity = await store.getIdentity()
  if (!identity) throw new ClientError('NO_IDENTITY', 'no identity yet')
  yield { change: 'identity', identity }
  const sessions = await store.listSessions()
  const outbox = await store.listOutbox()
  const conversations = await listConversations(store)
  for (const session of sessions) yield { change: 'session', session }
  for (const intent of await store.listRetractIntents()) yield { change: 'retract_added', intent }
  for (const message of await store.listOfflineMessages()) yield { change: 'offline_added', message }
  yield { change: 'friends', friends: [...(await store.listFriends())] }
  for (const mark of await store.listReadMarks()) yield { change: 'read_mark', mark }
  for (const settings of await store.listSettings()) yield { change: 'settings', settings }
  for (const call of await store.listCalls()) yield { change: 'call_logged', call }
  for (const record of await store.listAppData()) yield { change: 'app_data', record }
  for (const conversationId of conversations) {
    const trust = await store.getTrust(conversationId)
    if (trust.status !== 'unverified' || trust.renewedAt !== undefined)
      yield { change: 'trust', conversationId, trust }
  }
  const waiting = new Map(outbox.map((intent) => [nameOf(intent.conversationId, intent.internalId), intent]))
  const unsent = new Set<OutboxIntent>()
  for (const conversationId of conversations) {
    for await (const message of readMessages(store, conversationId)) {
      if (message.status === 'sending') {
        const intent = waiting.get(nameOf(conversationId, message.id))
        // Without an intent, it was written after the outbox was read, and could never be sent.
        if (!intent || message.retracted) continue
        unsent.add(intent)
      }
      yield { change: 'message', message }
    }
  }
  // In the order in which they were added, because it is the order of sending.
  for (const intent of outbox) if (unsent.has(intent)) yield { change: 'outbox_added', intent }
}

function nameOf(conversationId: string, messageId: string): string {
  return `${conversationId} ${messageId}`
}

/** Every conversation that some record names. One without a session has lost its contact's keys. */
async function listConversations(store: ClientStore): Promise<ReadonlySet<ConversationId>> {
  const records = await Promise.all([
    store.listSessions(),
    store.listReadMarks(),
    store.listSettings(),
    store.listOfflineMessages(),
    store.listOutbox(),
    store.listRetractIntents(),
  ])
  const ids = new Set(records.flat().map(({ conversationId }) => conversationId))
  for (const { conversation_id: id } of await store.listFriends()) if (id !== '') ids.add(id)
  return ids
}

/** The messages of a conversation: those without a `seq`, then the others, the newest pages first. */
async function* readMessages(store: ClientStore, conversationId: string): AsyncGenerator<StoredMessage> {
  yield* await store.listMessages(conversationId, { limit: 0 })
  for (let beforeSeq = Number.MAX_SAFE_INTEGER; ; ) {
    const messages = await store.listMessages(conversationId, { beforeSeq, limit: STEP })
    yield* messages
    const first = messages[0]?.seq
    if (messages.length < STEP || first === undefined) return
    beforeSeq = first
  }
}

/** Writes records into a store that has no identity. The identity is left to the caller. */
export class RecordWriter {
  readonly #store: ClientStore
  readonly #version: number
  #changes: StoreChange[] = []
  #identity: StoredIdentity | undefined

  /** @param version the version of the records */
  constructor(store: ClientStore, version: number) {
    this.#store = store
    this.#version = version
  }

  /** Takes a record. @throws ClientError `INVALID_ARCHIVE` if it is none */
  async take(value: unknown): Promise<void> {
    const change = this.#upToDate(value)
    if (change.change === 'identity') this.#identity = change.identity
    else this.#changes.push(change)
    if (this.#changes.length >= STEP) await this.#flush()
  }

  /** Writes the last records. @returns the identity. @throws ClientError `INVALID_ARCHIVE` without one */
  async end(): Promise<StoredIdentity> {
    await this.#flush()
    if (!this.#identity) throw new ClientError('INVALID_ARCHIVE', 'the archive has no identity')
    return this.#identity
  }

  async #flush(): Promise<void> {
    const changes = this.#changes
    this.#changes = []
    await this.#store.write(changes)
  }

  #upToDate(value: unknown): StoreChange {
    let change: StoreChange
    try {
      change = check(
        StoreChange,
        stepsAfter(this.#version).reduce((one, step) => step.change(one), value),
      )
    } catch (cause) {
      throw new ClientError('INVALID_ARCHIVE', 'the archive has a record that this program does not know', {
        cause,
      })
    }
    if (KINDS[change.change] === 'archived') return change
    throw new ClientError('INVALID_ARCHIVE', `the archive has a record of the kind ${change.change}`)
  }
}
