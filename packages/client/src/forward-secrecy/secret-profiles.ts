// Profiles under version 3: which one a contact has to be sent, what is stored of those that were sent, and
// those of contacts.
import { encodeSecretContent } from '@sotto/crypto/version-3'
import { type ConversationId, Name } from '@sotto/protocol'
import { checkArgument } from '../client-error.ts'
import { randomUuid, SerialQueue } from '../platform/platform.ts'
import type { Step } from '../secrecy/version-3/version-3.ts'
import type { SessionRecord, StoreChange } from '../stores/stores.ts'
import type { ForwardContext } from './forward-context.ts'
import {
  ownChange,
  peerChange,
  type ReadProfile,
  readProfiles,
  type SentProfile,
  type StoredProfiles,
  sentChange,
} from './profile-records.ts'
import type { Recorded } from './running-course.ts'

type Context = Pick<ForwardContext, 'emitter' | 'journal' | 'platform' | 'sessions' | 'store'>

/** What waited so long at the relay, in milliseconds, has expired there. So a profile is sent once more. */
const SENT_FOR_MS = 30 * 24 * 60 * 60 * 1000
const NOTHING: Recorded = { changes: [], after: () => {} }

/** The profiles of one identity and its contacts. */
export class SecretProfiles {
  readonly #context: Context
  /** What the store has, as of the last write. */
  readonly #stored: StoredProfiles
  /** What is being encrypted. */
  readonly #sending = new Map<ConversationId, SentProfile>()
  readonly #queue = new SerialQueue()

  /** Reads what is stored. @throws ClientError `STORE_FAILED`, `STORE_LOCKED` */
  static async open(context: Context): Promise<SecretProfiles> {
    return new SecretProfiles(context, await readProfiles(context.store))
  }

  private constructor(context: Context, stored: StoredProfiles) {
    this.#context = context
    this.#stored = stored
  }

  /** See `Profiles.setName`. */
  setName(name: string | undefined): Promise<void> {
    const cleaned = name === undefined ? '' : checkArgument(Name, name, 'a name has 1 to 64 characters')
    return this.#queue.run(async () => {
      const { platform, journal, emitter } = this.#context
      const before = this.#stored.own
      if (before?.name === cleaned) return
      // After the one before even if a clock was set back.
      const own = { name: cleaned, at: Math.max(platform.clock.now(), (before?.at ?? 0) + 1) }
      await journal.write([ownChange(own)])
      this.#stored.own = own
      emitter.emit('changes', [{ kind: 'conversation' }])
    })
  }

  /**
   * What has to be sent to a contact before the next message; undefined if it has the present profile, or may
   * not have it.
   */
  async due(
    conversationId: ConversationId,
  ): Promise<{ readonly id: string; readonly body: Uint8Array } | undefined> {
    const { platform, sessions, store } = this.#context
    const { own, sent } = this.#stored
    const session = sessions.find(conversationId)
    if (!own || session?.speaks !== 3) return undefined
    const now = platform.clock.now()
    const last = sent.get(conversationId)
    if (last && isLasting(last, session, now) && last.at === own.at) return undefined
    const friends = await store.listFriends()
    const isFriend = friends.some(
      ({ conversation_id, status }) => conversation_id === conversationId && status === 'accepted',
    )
    if (!isFriend) return undefined
    const id = randomUuid(platform.random)
    this.#sending.set(conversationId, { at: own.at, key: session.theirEcdhPublicKey, id, sentAt: now })
    const name = own.name === '' ? {} : { name: own.name }
    return { id, body: encodeSecretContent({ kind: 'profile', ...name, at: own.at }) }
  }

  /**
   * What a step changes about what a contact was sent: its profile was encrypted, or has to be encrypted
   * again, or one of the two may have lost it, because it joined again.
   */
  sentBy(conversationId: ConversationId, { keep, notices }: Pick<Step, 'keep' | 'notices'>): Recorded {
    const sending = this.#sending.get(conversationId)
    if (keep.some((each) => each.keep === 'ciphertext' && each.id === sending?.id))
      return this.#noteSent(conversationId, sending)
    const hasJoined = notices.some(({ tell }) => tell === 'began' || tell === 'rejoined')
    const gone = keep.flatMap((each) => (each.keep === 'ciphertext_gone' ? [each.id] : []))
    return hasJoined ? this.lost(conversationId) : this.lost(conversationId, gone)
  }

  /**
   * The contact did not get, or may not have any more, what it was sent: it is sent again before the next
   * message.
   * @param ids only if it was sent in one of these messages
   */
  lost(conversationId: ConversationId, ids?: readonly string[]): Recorded {
    const last = this.#stored.sent.get(conversationId)
    if (!last || ids?.includes(last.id) === false) return NOTHING
    return this.#noteSent(conversationId, undefined)
  }

  /** Takes a profile of a contact. An earlier one after a later one does nothing. */
  received(conversationId: ConversationId, { name, at }: ReadProfile): Recorded {
    const { emitter, sessions } = this.#context
    const session = sessions.find(conversationId)
    if (!session) return NOTHING
    const { theirEcdhPublicKey: key } = session
    const before = this.#stored.peers.get(conversationId)
    if (before?.key === key && at <= before.at) return NOTHING
    const peer = { name, at, key }
    return {
      changes: [peerChange(conversationId, peer)],
      after: () => {
        this.#stored.peers.set(conversationId, peer)
        emitter.emit('changes', [{ kind: 'conversation', conversationId }])
      },
    }
  }

  #noteSent(conversationId: ConversationId, sent: SentProfile | undefined): Recorded {
    const changes: readonly StoreChange[] = [sentChange(conversationId, sent)]
    const after = (): void => {
      if (sent) this.#stored.sent.set(conversationId, sent)
      else this.#stored.sent.delete(conversationId)
    }
    return { changes, after }
  }
}

/** Whether what was sent has come to the person who has these keys. */
function isLasting({ key, sentAt }: SentProfile, session: SessionRecord, now: number): boolean {
  return key === session.theirEcdhPublicKey && Math.abs(now - sentAt) < SENT_FOR_MS
}
