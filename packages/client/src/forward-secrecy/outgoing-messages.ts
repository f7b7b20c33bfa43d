// Own messages on their way to the course of their conversation: those of the outbox are encrypted one after
// the other, and those that the contact has lost come into the outbox once more.
import type { ConversationId } from '@sotto/protocol'
import { randomUuid } from '../platform/platform.ts'
import type { CourseEvent } from '../secrecy/version-3/version-3.ts'
import type { OutboxIntent } from '../stores/stores.ts'
import { encodeAbout, encodeMessage } from './contents.ts'
import type { ForwardContext } from './forward-context.ts'
import type { RunningCourse } from './running-course.ts'
import type { SecretProfiles } from './secret-profiles.ts'
import { chooseVersions } from './waiting-messages.ts'
import type { WithdrawnMessages } from './withdrawn-messages.ts'

type Context = Pick<ForwardContext, 'journal' | 'outbox' | 'platform' | 'sessions' | 'store' | 'work'>

/** The own messages of one identity. */
export class OutgoingMessages {
  readonly #context: Context
  readonly #courseOf: (conversationId: ConversationId) => RunningCourse
  readonly #withdrawn: Pick<WithdrawnMessages, 'take'>
  readonly #profiles: Pick<SecretProfiles, 'due'>
  readonly #onFailure: (error: unknown) => void
  /** The conversations that have begun: the contact is told of the profile without a message. */
  readonly #begun = new Set<ConversationId>()
  /** The conversations that are encrypting, and whether something new came meanwhile. */
  readonly #sealing = new Map<ConversationId, boolean>()
  #isStopped = false

  constructor(
    context: Context,
    courseOf: (conversationId: ConversationId) => RunningCourse,
    withdrawn: Pick<WithdrawnMessages, 'take'>,
    profiles: Pick<SecretProfiles, 'due'>,
    onFailure: (error: unknown) => void,
  ) {
    this.#context = context
    this.#courseOf = courseOf
    this.#withdrawn = withdrawn
    this.#profiles = profiles
    this.#onFailure = onFailure
  }

  /** Encrypts what waits in a conversation, as soon as that is possible. */
  seal(conversationId: ConversationId): void {
    if (this.#isStopped) return
    const isRunning = this.#sealing.has(conversationId)
    this.#sealing.set(conversationId, true)
    if (isRunning) return
    const sealed = this.#sealWhileNew(conversationId)
      .catch(this.#onFailure)
      .finally(() => this.#sealing.delete(conversationId))
    void this.#context.work(sealed)
  }

  /** A conversation has begun. */
  begun(conversationId: ConversationId): void {
    this.#begun.add(conversationId)
  }

  /** Whether messages of a conversation are being encrypted. */
  isSealing(conversationId: ConversationId): boolean {
    return this.#sealing.has(conversationId)
  }

  /**
   * Puts messages that the contact has lost into the outbox, under new ids.
   * @returns those of which nothing is left
   */
  async sendAgain(conversationId: ConversationId, ids: readonly string[]): Promise<readonly string[]> {
    const { outbox, store, journal, platform, sessions } = this.#context
    const toAliasId = sessions.find(conversationId)?.theirAliasId
    if (toAliasId === undefined) return []
    const gone: string[] = []
    for (const id of ids) {
      if (outbox.list(conversationId).some(({ resends }) => resends === id)) continue
      const message = await store.findMessage(conversationId, true, id)
      const about = message?.about
      const intent: OutboxIntent | undefined = message && {
        ...{ internalId: randomUuid(platform.random), conversationId, toAliasId, text: '' },
        ...{ addedAt: platform.clock.now(), version: 3, resends: message.id, ...(about && { about }) },
      }
      if (!intent || !(await this.#bodyOf(intent))) {
        gone.push(id)
        continue
      }
      await journal.write([{ change: 'outbox_added', intent }])
      outbox.accept(intent)
    }
    return gone
  }

  stop(): void {
    this.#isStopped = true
  }

  async #sealWhileNew(conversationId: ConversationId): Promise<void> {
    while (this.#sealing.get(conversationId)) {
      this.#sealing.set(conversationId, false)
      await this.#sealAll(conversationId)
    }
  }

  async #sealAll(conversationId: ConversationId): Promise<void> {
    const { outbox, sessions } = this.#context
    const session = sessions.find(conversationId)
    if (session?.lowered)
      await this.#withdrawn.take(conversationId, (lowered) => chooseVersions(this.#context, lowered))
    else if (session) await chooseVersions(this.#context, session)
    if (sessions.find(conversationId)?.lowered) return
    for (;;) {
      const intent = outbox.firstUnsealed(conversationId)
      if (this.#isStopped || !(intent || this.#begun.has(conversationId))) return
      if (!(await this.#sendProfile(conversationId))) return
      if (!intent) continue
      const event = await this.#sendEventOf(intent)
      const { internalId: id } = intent
      const made = await this.#courseOf(conversationId).give(event ?? { type: 'failed', id })
      if (typeof made === 'string' || (event && made.outcome === 'later')) return
      // Nothing is left of it to send: it was retracted or removed.
      if (!event) await outbox.drop(id)
    }
  }

  /** @returns false if it has to wait, and so has every message after it */
  async #sendProfile(conversationId: ConversationId): Promise<boolean> {
    const profile = await this.#profiles.due(conversationId)
    if (profile) {
      const event = { type: 'send', isHidden: true, ...profile } as const
      const made = await this.#courseOf(conversationId).give(event)
      if (typeof made === 'string' || made.outcome === 'later') return false
    }
    this.#begun.delete(conversationId)
    return true
  }

  async #sendEventOf(intent: OutboxIntent): Promise<CourseEvent | undefined> {
    const { internalId: id, about, resends } = intent
    const body = await this.#bodyOf(intent)
    return (
      body && {
        ...{ type: 'send', id, body },
        ...(resends === undefined ? {} : { resends }),
        ...(about?.kind === 'deletion' ? { deletes: about.id } : {}),
      }
    )
  }

  async #bodyOf({ internalId, conversationId, about, resends }: OutboxIntent) {
    const { store } = this.#context
    if (about) return encodeAbout(store, conversationId, about)
    const message = await store.findMessage(conversationId, true, resends ?? internalId)
    return message && encodeMessage(message)
  }
}
