// Decides which web pages may open a WebSocket. CORS does not cover WebSockets.
import { ProtocolError } from '@sotto/protocol'

/**
 * Only browsers send an `Origin`, so other programs are not affected. Some libraries send the relay's own.
 * @param origin the header of the request
 * @param ownHost the relay's host for clients
 * @throws ProtocolError `ORIGIN_REFUSED` if the operator has listed origins, and not this one
 */
export function checkSocketOrigin(
  origin: string | null,
  { corsOrigins, ownHost }: { corsOrigins: readonly string[] | 'any'; ownHost: string },
): void {
  if (origin === null || corsOrigins === 'any' || corsOrigins.includes(origin)) return
  if (origin === `https://${ownHost}` || origin === `http://${ownHost}`) return
  throw new ProtocolError('ORIGIN_REFUSED')
}
