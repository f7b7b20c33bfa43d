// Whether a contact speaks version 3, if this device may have lost that it does: the relay knows whether the
// conversation has a group. Not a part of the script of version 3, which a page may fail to load.
import { type ConversationId, conversationEndpoints } from '@sotto/protocol'
import { asClientError, ClientError } from '../client-error.ts'
import type { SessionRecord } from '../stores/stores.ts'
import type { ForwardContext } from './forward-context.ts'

/** After how long a question that had no answer is asked again, in milliseconds. */
const AGAIN_MS = 4000

export interface KnownGroupsContext
  extends Pick<ForwardContext, 'platform' | 'http' | 'journal' | 'sessions' | 'work'> {
  /** A contact was found to speak version 3, which is stored. */
  readonly onSpeaks: (conversationId: ConversationId) => void
  /** Messages that waited for an answer may go on. */
  readonly onAnswer: () => void
  readonly report: (error: unknown) => void
}

/** What is known of the groups of one identity. */
export class KnownGroups {
  readonly #context: KnownGroupsContext
  /** The conversations that the relay was asked about, and whether it will never answer. */
  readonly #asked = new Map<ConversationId, boolean>()

  constructor(context: KnownGroupsContext) {
    this.#context = context
  }

  /** Whether it is known if the contact speaks version 3. If not, the relay is asked. */
  knows(session: SessionRecord): boolean {
    const { conversationId } = session
    const isRefused = this.#asked.get(conversationId)
    if (session.speaks || session.hadNoGroup || isRefused) return true
    if (isRefused === undefined) {
      this.#asked.set(conversationId, false)
      void this.#context.work(this.#find(session))
    }
    return false
  }

  /**
   * Whether the contact speaks version 3.
   * @throws ClientError as the request does, if it may be answered another time
   */
  async speaks({ conversationId, speaks, hadNoGroup }: SessionRecord): Promise<boolean> {
    if (speaks || hadNoGroup) return speaks === 3
    const { http, journal, sessions, onSpeaks } = this.#context
    const params = { conv_id: conversationId }
    let epoch: number
    try {
      epoch = (await http.call(conversationEndpoints.conversationGroup, { params })).epoch
    } catch (error) {
      if (!(error instanceof ClientError && error.retry === 'never')) throw error
      // An older relay has no groups. Whatever else it refuses for good, it refuses the rest, too.
      this.#asked.set(conversationId, true)
      return false
    }
    const session = sessions.find(conversationId)
    if (!session) return false
    // The user has permitted an older version meanwhile.
    if (session.lowered) return false
    const isSpoken = epoch > 0 || session.speaks === 3
    await journal.write([sessions.noteSecrecy(session, isSpoken ? { speaks: 3 } : { hadNoGroup: true })])
    if (isSpoken) onSpeaks(conversationId)
    return isSpoken
  }

  async #find(session: SessionRecord): Promise<void> {
    const { conversationId } = session
    const { platform, onAnswer, report } = this.#context
    try {
      await this.speaks(session)
      if (!this.#asked.get(conversationId)) this.#asked.delete(conversationId)
    } catch (thrown) {
      const error = asClientError(thrown, 'STORE_FAILED')
      // What is sent is refused for the same reason, and that is told.
      if (error.code !== 'REFUSED') report(error)
      if (error.code === 'BAD_REPLY') this.#asked.set(conversationId, true)
      // The message waits: an older version could be a step down for this contact.
      else
        platform.clock.after(AGAIN_MS, () => {
          this.#asked.delete(conversationId)
          onAnswer()
        })
    }
    onAnswer()
  }
}
