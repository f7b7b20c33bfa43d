// What the app is, and what the relay knows.
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type AppVersion, readVersion } from '../../session/about.ts'
import { attempt } from '../../session/notices.ts'
import { relayVersion } from '../../session/relay-address.ts'
import { useSession } from '../../session/use-session.ts'
import { deviceTexts } from '../../texts/device.ts'
import { Licences } from './licences.tsx'
import './settings.css'

export function AboutSection() {
  const { relayUrl } = useSession()
  const version = useSignal<AppVersion | undefined>(undefined)
  const relay = useSignal<string | undefined>(undefined)
  const t = deviceTexts.value
  useEffect(() => {
    void attempt(async () => {
      version.value = await readVersion()
      relay.value = await relayVersion(relayUrl)
    })
  }, [])
  return (
    <>
      <dl class="card">
        <dt class="field-label">{t.relay}</dt>
        <dd>
          <span class="code">{relayUrl}</span>
        </dd>
        {relay.value !== undefined && (
          <>
            <dt class="field-label">{t.relayVersion}</dt>
            <dd>
              <span class="code">{relay.value}</span>
            </dd>
          </>
        )}
        {version.value && (
          <>
            <dt class="field-label">{t.version}</dt>
            <dd>
              <span class="code">{version.value.version}</span>
            </dd>
            <dt class="field-label">{t.hash}</dt>
            <dd>
              <span class="code small">{version.value.hash}</span>
            </dd>
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
      <Licences />
    </>
  )
}
