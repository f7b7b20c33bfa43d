// What the app is, and what the relay knows.
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type AppVersion, readVersion } from '../../session/about.ts'
import { attempt } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { texts } from '../../texts/texts.ts'
import './settings.css'

export function AboutSection() {
  const { relayUrl } = useSession()
  const version = useSignal<AppVersion | undefined>(undefined)
  const t = texts.value.device
  useEffect(() => {
    void attempt(async () => {
      version.value = await readVersion()
    })
  }, [])
  return (
    <>
      <dl class="card">
        <dt class="field-label">{t.relay}</dt>
        <dd class="code">{relayUrl}</dd>
        {version.value && (
          <>
            <dt class="field-label">{t.version}</dt>
            <dd class="code">{version.value.version}</dd>
            <dt class="field-label">{t.hash}</dt>
            <dd class="code small">{version.value.hash}</dd>
            <dd class="field-hint">{t.hashHint}</dd>
          </>
        )}
      </dl>
      <section class="card">
        <h2>{t.knowsTitle}</h2>
        <ul class="settings-knows">
          {t.knows.map((each) => (
            <li key={each}>{each}</li>
          ))}
        </ul>
        <p>{t.knowsNot}</p>
      </section>
    </>
  )
}
