// The modules of the client that a first message does not need, as a file of its own that is loaded by need.
import { type Client, Search, UnsentMessages } from '@sotto/client'

export class LaterModules {
  readonly search: Search
  readonly unsent: UnsentMessages

  constructor(client: Client) {
    this.search = new Search(client)
    this.unsent = new UnsentMessages(client)
  }
}
