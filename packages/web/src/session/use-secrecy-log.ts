// What happened to the forward secrecy of a conversation, for a screen that shows it.
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { attempt } from './notices.ts'
import type { SecrecyLog, SecrecyLogs } from './secrecy-logs.ts'
import { useSession } from './use-session.ts'

/** The log, read again after each change; undefined until it is read. */
export function useSecrecyLog(conversationId: string): SecrecyLog | undefined {
  const session = useSession()
  const logs = useSignal<SecrecyLogs | undefined>(undefined)
  const log = useSignal<SecrecyLog | undefined>(undefined)
  const revision = logs.value?.revision
  useEffect(() => {
    // An event may have been lost while one tab took over from another.
    void attempt(async () => (await session.secrecy()).look(conversationId))
  }, [conversationId])
  useEffect(() => {
    let isOver = false
    void attempt(async () => {
      const loaded = await session.secrecy()
      const read = await loaded.read(conversationId)
      if (isOver) return
      logs.value = loaded
      log.value = read
    })
    return () => {
      isOver = true
    }
  }, [conversationId, revision])
  return log.value
}
