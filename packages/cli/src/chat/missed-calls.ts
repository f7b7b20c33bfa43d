// Calls that arrive at a terminal, which cannot take them: it says who calls, and that the call was missed.
import { ClientError, type SottoClient } from '@sotto/client'
import { Calls } from '@sotto/client/browser'
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
  let latest: string | undefined
  const undo = [
    calls.onChange(({ id, conversationId, state }) => {
      if (state !== 'ringing' || id === latest) return
      latest = id
      chat.print(`• ${chat.name(conversationId)} is calling. A terminal cannot take calls.`)
    }),
    client.on('call_logged', ({ conversationId, startedAt, end, missed }) => {
      if (!missed) return
      const name = chat.name(conversationId)
      const time = clockTime(startedAt)
      chat.print(
        end === 'unencrypted'
          ? `• ${name} called at ${time} with an app that does not encrypt calls. The call was refused.`
          : `• Missed call from ${name} at ${time}.`,
      )
    }),
  ]
  return () => {
    for (const stop of undo) stop()
    calls.close()
  }
}
