// Calls that arrive at a terminal, which cannot take them: it says who calls, and that the call was missed.
import { ClientError, type SottoClient } from '@sotto/client'
import { type CallInfo, Calls } from '@sotto/client/browser'
import { clockTime } from './transcript.ts'

/**
 * Prints calls of friends. The caller hears it ring, as the user may be reached elsewhere.
 * @returns a function that ends this
 */
export function announceCalls(
  client: SottoClient,
  chat: { name(contact: string): string; print(text: string): void },
): () => void {
  const calls = new Calls(client, () => {
    throw new ClientError('UNSUPPORTED', 'a terminal has no media')
  })
  const ringing = new Map<string, number>()
  const stop = calls.onChange(({ id, conversationId, state, isCaller }: CallInfo) => {
    if (isCaller) return
    const name = chat.name(conversationId)
    const since = ringing.get(id)
    if (state === 'ringing' && since === undefined) {
      ringing.set(id, Date.now())
      chat.print(`• ${name} is calling. A terminal cannot take calls.`)
    } else if (state !== 'ringing' && since !== undefined) {
      ringing.delete(id)
      chat.print(`• Missed call from ${name} at ${clockTime(since)}.`)
    }
  })
  return () => {
    stop()
    calls.close()
  }
}
