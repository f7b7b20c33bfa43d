// Shows the recovery phrase of a new account, and lets the user prove to have written it down.
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Loading } from '../../parts/state.tsx'
import { notifyError } from '../../session/notices.ts'
import { prefer } from '../../session/preferences.ts'
import { useSession } from '../../session/use-session.ts'
import { PhraseCheck } from './phrase-check.tsx'
import { PhraseWords } from './phrase-words.tsx'
import './welcome.css'

export function NewPhrase() {
  const { client } = useSession()
  const words = useSignal<readonly string[] | undefined>(undefined)
  const isChecking = useSignal(false)
  useEffect(() => {
    client.recoveryPhrase().then((phrase) => {
      words.value = phrase.split(' ')
    }, notifyError)
  }, [])

  const confirm = (): void => {
    // From now on there is something to lose. A browser may refuse; settings say so and ask again.
    void navigator.storage?.persist?.()
    prefer({ isPhraseUnconfirmed: false })
  }
  if (!words.value) return <Loading />
  return isChecking.value ? (
    <PhraseCheck words={words.value} onBack={() => (isChecking.value = false)} onDone={confirm} />
  ) : (
    <PhraseWords words={words.value} onWritten={() => (isChecking.value = true)} />
  )
}
