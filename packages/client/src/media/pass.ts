// What moving a piece of media takes: the key of the session, and a token of the account; asked for each piece anew.
import * as v from 'valibot'
import { ClientError } from '../client-error.ts'
import { type AnyClient, doorOf } from '../door.ts'

/** A key and a token, good for the next piece. The key is the holder's to overwrite. */
export const MediaPass = v.object({ sessionKey: v.instance(Uint8Array), token: v.string() })
/** See {@link MediaPass}. */
export type MediaPass = v.InferOutput<typeof MediaPass>

/**
 * A pass for media of a contact, by a client that runs here or in another tab. Asked for each piece, so that a client that
 * is locked or closed, or sees the contact's keys changed, ends what is under way.
 * @param deadToken one the relay takes no more
 * @throws ClientError `UNKNOWN_CONTACT`, `KEY_CHANGED`, `LOCKED`, `CLOSED`, `NO_IDENTITY`, and what logging in may throw
 */
export async function passThrough(
  client: AnyClient,
  contact: string,
  deadToken: string | undefined,
): Promise<MediaPass> {
  const door = doorOf(client)
  if ('askMediaPass' in door) return door.askMediaPass(contact, deadToken)
  const { login } = door.needEngine().identity
  if (deadToken !== undefined) login.dropToken(deadToken)
  const token = await login.getToken()
  // Locked meanwhile, keys are zeros.
  const { sessions } = door.needEngine()
  const session = sessions.get(contact)
  if (!sessions.guard(session))
    throw new ClientError('KEY_CHANGED', `the keys of ${contact} are not those recorded`)
  return { sessionKey: sessions.keyOf(session).slice(), token }
}
