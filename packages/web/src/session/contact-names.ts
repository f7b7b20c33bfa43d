// What contacts call themselves in their profiles, which the relay does not see. Loaded after what everyone
// needs.
import { type Client, type Conversation, Profiles } from '@sotto/client'
import { follow } from '@sotto/client/signals'

/** A conversation as the app shows it: `nickname` is what the contact calls itself, if it says so. */
export interface ShownConversation extends Conversation {
  /** Only if the contact has a profile. */
  readonly profile?: {
    /** What the contact calls itself. It proves nothing. */
    readonly name: string
    /** What the relay calls it. */
    readonly nickname: string
  }
}

export class ContactNames {
  readonly #client: Client
  readonly #profiles: Profiles
  /** By conversation. */
  #names: ReadonlyMap<string, string> = new Map()

  constructor(client: Client) {
    this.#client = client
    this.#profiles = new Profiles(client)
  }

  /**
   * Reads the names now and after each change. Calls `show` each time, with the error if they could not be
   * read: they are then as they were before. Returns how to end it.
   */
  follow(show: (error?: unknown) => void): () => void {
    const query = {
      key: 'profiles',
      read: () => this.#profiles.list(),
      concerns: ({ kind }: { readonly kind: string }) => kind === 'conversation',
    }
    return follow(this.#client, query, (list, error) => {
      if (list) this.#names = new Map(list.map(({ conversationId, name }) => [conversationId, name]))
      show(error)
    })
  }

  /**
   * The conversations with what their contacts call themselves. Somebody who has the name of another contact,
   * or whose name has the alias of one in it, is shown with the alias. It is before the name, because lists
   * cut the end of long names.
   */
  shown(list: readonly Conversation[]): readonly ShownConversation[] {
    const bearers = new Map<string | undefined, number>()
    for (const { conversationId, name, nickname } of list)
      for (const each of new Set([name, nickname, this.#names.get(conversationId)]))
        bearers.set(each, (bearers.get(each) ?? 0) + 1)
    const aliases = new Set<string>(list.map(({ contactId }) => contactId))
    return list.map((each) => {
      const { conversationId, contactId, nickname } = each
      const name = this.#names.get(conversationId)
      if (name === undefined) return each
      const hasAlias = name.split(/\W+/).some((word) => word !== contactId && aliases.has(word))
      const isPlain = bearers.get(name) === 1 && !hasAlias
      return { ...each, nickname: isPlain ? name : `${contactId} ${name}`, profile: { name, nickname } }
    })
  }
}
