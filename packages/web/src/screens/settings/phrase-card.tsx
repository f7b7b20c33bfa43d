// Shows the recovery phrase on request. It is in the page only while it is seen.
import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { attempt } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { settingsTexts } from '../../texts/settings.ts'
import '../welcome/welcome.css'

export function PhraseCard() {
  const { client } = useSession()
  const words = useSignal<readonly string[] | undefined>(undefined)
  const t = settingsTexts.value
  const hide = (): void => {
    words.value = undefined
  }
  useLayoutEffect(() => {
    const onHidden = (): void => {
      if (document.visibilityState === 'hidden') hide()
    }
    document.addEventListener('visibilitychange', onHidden)
    return () => document.removeEventListener('visibilitychange', onHidden)
  }, [])
  const show = (): Promise<boolean> =>
    attempt(async () => {
      const phrase = await client.recoveryPhrase()
      words.value = phrase.split(' ')
    })
  return (
    <section class="card">
      <h2>{t.phraseTitle}</h2>
      <p class="soft">{t.phraseText}</p>
      {words.value && (
        <ol class="welcome-words code" translate={false}>
          {words.value.map((word, at) => (
            <li key={`${at} ${word}`}>{word}</li>
          ))}
        </ol>
      )}
      <Button icon="eye" onClick={words.value ? hide : show}>
        {words.value ? t.phraseHide : t.phraseShow}
      </Button>
    </section>
  )
}
