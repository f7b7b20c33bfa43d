// What features serve beside the interface: pages for people, and addresses that others call back. None is in its documents.
import type { RateName } from '@sotto/protocol'

/** A request for a page, with what the server knows of it. Its body is not read yet. */
export interface Visit {
  readonly request: Request
  /** What stood in the path for `:name`, decoded; anything at all. */
  readonly params: Readonly<Record<string, string>>
  /** What rates by address count for: an IPv4 address or an IPv6 /64. */
  readonly address: string
  /** The host the visitor believes to speak to, port included. */
  readonly host: string
}

/** A path a feature answers by itself. */
export interface Page {
  /** As Bun's router writes it: `/pay/:token`. */
  readonly path: string
  readonly methods: readonly string[]
  /** Counted by address before it answers. */
  readonly rate: RateName
  /** @throws ProtocolError where the request is refused: answered as plain text */
  answer(visit: Visit): Promise<Response>
}
