// The session key and the token that an upload or download needs. They are fetched again for each piece.
import { ClientError } from '../client-error.ts'
import { type AnyClient, type MediaPass, moduleAccessOf } from '../module-access.ts'

/**
 * The pass for media of a contact, from a client that runs here or in another tab. It is fetched for each
 * piece, so that a transfer ends when the client is locked or closed, or when the contact's keys change.
 * @param deadToken a token that the relay no longer accepts
 * @throws ClientError `UNKNOWN_CONTACT`, `KEY_CHANGED`, `LOCKED`, `CLOSED`, `NO_IDENTITY`, and the errors of
 *   logging in
 */
export async function mediaPassOf(
  client: AnyClient,
  contact: string,
  deadToken: string | undefined,
): Promise<MediaPass> {
  const access = moduleAccessOf(client)
  if ('askMediaPass' in access) return access.askMediaPass(contact, deadToken)
  const { login } = access.needEngine().identity
  if (deadToken !== undefined) login.dropToken(deadToken)
  const token = await login.getToken()
  // Messages wait for this answer, too: an older version could be a step down for this contact.
  const hasForwardSecrecy = await access.needEngine().speaks(access.needEngine().sessions.get(contact))
  // Read again: if the client was locked meanwhile, the old keys are zeros.
  const { sessions } = access.needEngine()
  const session = sessions.get(contact)
  if (!sessions.guard(session)) throw new ClientError('KEY_CHANGED', `the keys of ${contact} have changed`)
  return { sessionKey: sessions.keyOf(session).slice(), token, hasForwardSecrecy }
}
