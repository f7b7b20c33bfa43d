// The twelve words.
import { Button } from '../../parts/button.tsx'
import { useFirstFocus } from '../../parts/focus.ts'
import { copySecret, forgetSecret } from '../../session/clipboard.ts'
import { attempt, notify } from '../../session/notices.ts'
import { texts } from '../../texts/texts.ts'

interface PhraseWordsProps {
  readonly words: readonly string[]
  readonly onWritten: () => void
}

export function PhraseWords({ words, onWritten }: PhraseWordsProps) {
  const t = texts.value.welcome
  const heading = useFirstFocus<HTMLHeadingElement>()
  const copy = async (): Promise<void> => {
    if (await attempt(() => copySecret(words.join(' ')))) notify(t.phraseCopied)
  }
  const goOn = (): void => {
    void forgetSecret()
    onWritten()
  }
  return (
    <main class="welcome">
      <h1 ref={heading} tabIndex={-1}>
        {t.phraseTitle}
      </h1>
      <p class="soft">{t.phraseText}</p>
      <ol class="welcome-words code" translate={false}>
        {words.map((word, at) => (
          <li key={`${at} ${word}`}>{word}</li>
        ))}
      </ol>
      <div class="welcome-buttons">
        <Button icon="copy" onClick={copy}>
          {texts.value.common.copy}
        </Button>
        <Button kind="primary" onClick={goOn}>
          {t.phraseWritten}
        </Button>
      </div>
    </main>
  )
}
