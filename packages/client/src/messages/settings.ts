// What the user decided about conversations. Lists are described and sorted by it.
import type { ConversationId } from '@sotto/protocol'
import type { Platform } from '../platform/platform.ts'
import type { ClientStore, ConversationSettings, Journal, StoreChange } from '../stores/stores.ts'

export interface SettingsContext {
  readonly platform: Pick<Platform, 'clock'>
  readonly store: Pick<ClientStore, 'listSettings'>
  readonly journal: Pick<Journal, 'write'>
}

export class Settings {
  readonly #context: SettingsContext
  readonly #settings = new Map<string, ConversationSettings>()

  constructor(context: SettingsContext) {
    this.#context = context
  }

  async load(): Promise<void> {
    for (const settings of await this.#context.store.listSettings())
      this.#settings.set(settings.conversationId, settings)
  }

  of(conversationId: ConversationId): ConversationSettings {
    return this.#settings.get(conversationId) ?? { conversationId }
  }

  /** Replaces the settings of a conversation; resolves once they are stored. */
  set(settings: ConversationSettings): Promise<void> {
    return this.#context.journal.write([this.#change(settings)])
  }

  /** The change that takes a conversation out of the archive for a new message. A muted one stays there. */
  woken(conversationId: ConversationId): StoreChange[] {
    const { archived, ...rest } = this.of(conversationId)
    if (!archived || (rest.mutedUntil ?? 0) > this.#context.platform.clock.now()) return []
    return [this.#change(rest)]
  }

  /** The change that ends the draft, if there is one. */
  withoutDraft(conversationId: ConversationId): StoreChange[] {
    const { draft, draftReplyToId, ...rest } = this.of(conversationId)
    return draft === undefined && draftReplyToId === undefined ? [] : [this.#change(rest)]
  }

  #change(settings: ConversationSettings): StoreChange {
    this.#settings.set(settings.conversationId, settings)
    return { change: 'settings', settings }
  }
}
