// The types of pages that features serve besides the API: pages for people, and URLs that other services call
// back. The API documents do not list them.
import type { RateName } from '@sotto/protocol'

/** A request for a page. Its body is not read yet. */
export interface Visit {
  readonly request: Request
  /** The values in the path for each `:name`, decoded. They may be any text. */
  readonly params: Readonly<Record<string, string>>
  /** The address that rates count: an IPv4 address or an IPv6 /64. */
  readonly address: string
  /** The host that the visitor believes it talks to, including the port. */
  readonly host: string
}

/** A path that a feature serves itself. */
export interface WebPage {
  /** In the syntax of Bun's router: `/pay/:token`. */
  readonly path: string
  readonly methods: readonly string[]
  /** The rate, counted by address before the page answers. */
  readonly rate: RateName
  /** @throws ProtocolError if the request is refused; it is answered as plain text */
  answer(visit: Visit): Promise<Response>
}
