// Follows the log of calls.
import { type ReadonlySignal, useSignal } from '@preact/signals'
import type { CallRecord } from '@sotto/client'
import { follow } from '@sotto/client/signals'
import { useEffect } from 'preact/hooks'
import { callsOf } from '../../session/calls/call-query.ts'
import { notifyError } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { usePhone } from './use-phone.ts'

/** The calls that have ended, the latest first; undefined until they are read. */
export function useCallLog(): ReadonlySignal<readonly CallRecord[] | undefined> {
  const { client } = useSession()
  const phone = usePhone()
  const list = useSignal<readonly CallRecord[] | undefined>(undefined)
  useEffect(() => {
    if (!phone) return
    return follow(client, callsOf(phone.log), (value, error) => {
      if (value) list.value = value
      else notifyError(error)
    })
  }, [client, phone])
  return list
}
