// What a chat calls contacts: by the names that they gave themselves, else by their nicknames.
import { type Change, type Conversation, Profiles, type SottoClient } from '@sotto/client'
import { sanitizeLine } from '../sanitize.ts'

/** The names of contacts, safe to print. */
export class ContactNames {
  readonly #client: SottoClient
  readonly #profiles: Profiles
  /** By conversation, as of the last reading. */
  #own: ReadonlyMap<string, string> = new Map()
  /** The nicknames in conversations with people who are no friends any more. */
  readonly #former = new Map<string, string>()

  constructor(client: SottoClient) {
    this.#client = client
    this.#profiles = new Profiles(client)
  }

  /** Reads the names when the chat begins. */
  async begin(conversations: readonly Conversation[]): Promise<void> {
    for (const { conversationId, nickname } of conversations)
      this.#former.set(conversationId, sanitizeLine(nickname))
    await this.read()
  }

  /** What a contact calls itself in its profile; undefined if it has none. */
  ownOf(conversationId: string): string | undefined {
    return this.#own.get(conversationId)
  }

  /** A contact's name; with the alias if another friend has it, too. */
  of(contact: string): string {
    const friends = this.#client.friends()
    const friend = friends.find((each) => each.conversation_id === contact || each.alias_id === contact)
    if (!friend) return this.ownOf(contact) ?? this.#former.get(contact) ?? sanitizeLine(contact)
    const { conversation_id: id, alias_id: aliasId } = friend
    const nickname = sanitizeLine(friend.nickname) || aliasId
    this.#former.set(id, nickname)
    const name = this.ownOf(id) ?? nickname
    const isAmbiguous = friends.some(
      (each) =>
        each.alias_id !== aliasId &&
        [sanitizeLine(each.nickname), this.ownOf(each.conversation_id)].includes(name),
    )
    return isAmbiguous ? `${name} (${aliasId})` : name
  }

  /**
   * Reads the names again. @returns the conversations whose contact has another one than before, and the one
   * before
   */
  async read(): Promise<ReadonlyMap<string, string | undefined>> {
    const before = this.#own
    const all = await this.#profiles.list()
    const names = all.map(({ conversationId, name }) => [conversationId, sanitizeLine(name)] as const)
    this.#own = new Map(names.filter(([, name]) => name !== ''))
    const ids = [...new Set([...before.keys(), ...this.#own.keys()])]
    return new Map(ids.filter((id) => before.get(id) !== this.ownOf(id)).map((id) => [id, before.get(id)]))
  }
}

/** Whether a contact may have another name after these changes. */
export function mayRename(changes: readonly Change[]): boolean {
  return changes.some(({ kind }) => kind === 'conversation' || kind === 'everything')
}
