// Gives components the phone of the session.
import { useEffect, useState } from 'preact/hooks'
import type { Phone } from '../../session/calls/phone.ts'
import { notifyError } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'

/** The calls of this tab; undefined while they are loaded. */
export function usePhone(): Phone | undefined {
  const session = useSession()
  const [phone, setPhone] = useState<Phone>()
  useEffect(() => {
    session.phone().then(setPhone, notifyError)
  }, [session])
  return phone
}
