// What the tests of calls send and look for: frames as text, since they have to arrive as they were written.
import type { WireAccount, WireSocket } from './wire.ts'

type Json = Record<string, unknown>

/** The types of a call's frames. */
export const CALL_TYPES = ['call_offer', 'call_answer', 'call_reject', 'call_ice', 'call_hangup'] as const

/** A frame of a call from one account to another. */
export function signal(
  type: (typeof CALL_TYPES)[number],
  [from, to]: readonly [WireAccount, WireAccount],
  more: Json = {},
): Json {
  const payload = Buffer.from(`${type} ${crypto.randomUUID()}`).toString('base64')
  return { type, to: to.alias, call_id: 'call-1', from: from.alias, crypto_v: 2, payload, ...more }
}

/** A `call_ice` that tells itself apart from others by `n`. */
export function candidate(n: number, pair: readonly [WireAccount, WireAccount], more: Json = {}): Json {
  return signal('call_ice', pair, { n, ...more })
}

/** The text of every frame that comes in from here on, as it stood on the wire. */
export function textsOf(socket: WireSocket): string[] {
  const texts: string[] = []
  socket.socket.addEventListener('message', ({ data }) => texts.push(String(data)))
  return texts
}

/**
 * Waits until everything the account has sent of calls is carried out: its next frame of a call is refused, and refusals
 * come in their turn.
 */
export async function settled(socket: WireSocket, account: WireAccount): Promise<void> {
  const call_id = `settle-${crypto.randomUUID()}`
  socket.send(signal('call_ice', [account, account], { call_id }))
  while ((await socket.next('error')).call_id !== call_id) {}
}
