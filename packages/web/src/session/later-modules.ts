// The modules of the client that a first message does not need, as a file of its own that is loaded by need.
import { type Client, Edits, Profiles, Reactions, Search, UnsentMessages } from '@sotto/client'

export class LaterModules {
  readonly edits: Edits
  readonly profiles: Profiles
  readonly reactions: Reactions
  readonly search: Search
  readonly unsent: UnsentMessages

  constructor(client: Client) {
    this.edits = new Edits(client)
    this.profiles = new Profiles(client)
    this.reactions = new Reactions(client)
    this.search = new Search(client)
    this.unsent = new UnsentMessages(client)
  }
}
