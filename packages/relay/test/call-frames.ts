// Call frames for tests. Frames are compared as text, because the relay must forward them unchanged.
import type { WireAccount, WireSocket } from './wire.ts'

type Json = Record<string, unknown>

/** The types of call frames. */
export const CALL_TYPES = ['call_offer', 'call_answer', 'call_reject', 'call_ice', 'call_hangup'] as const

/** A call frame from one account to another. */
export function signal(
  type: (typeof CALL_TYPES)[number],
  [from, to]: readonly [WireAccount, WireAccount],
  more: Json = {},
): Json {
  const payload = Buffer.from(`${type} ${crypto.randomUUID()}`).toString('base64')
  return { type, to: to.alias, call_id: 'call-1', from: from.alias, crypto_v: 2, payload, ...more }
}

/** A `call_ice` frame numbered by `n`. */
export function candidate(n: number, pair: readonly [WireAccount, WireAccount], more: Json = {}): Json {
  return signal('call_ice', pair, { n, ...more })
}

/** The text of every frame that arrives from now on, as received. */
export function textsOf(socket: WireSocket): string[] {
  const texts: string[] = []
  socket.socket.addEventListener('message', ({ data }) => texts.push(String(data)))
  return texts
}

/**
 * Waits until the relay has handled every call frame the account sent before. It sends one more call frame,
 * to itself, which is refused in the same order.
 */
export async function settled(socket: WireSocket, account: WireAccount): Promise<void> {
  const call_id = `settle-${crypto.randomUUID()}`
  socket.send(signal('call_ice', [account, account], { call_id }))
  while ((await socket.next('error')).call_id !== call_id) {}
}
