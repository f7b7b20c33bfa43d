// The packages of others in the app, with their licences: read when they are asked for.
import { useSignal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { type Licence, readLicences } from '../../session/about.ts'
import { attempt } from '../../session/notices.ts'
import { deviceTexts } from '../../texts/device.ts'

export function Licences() {
  const list = useSignal<readonly Licence[] | undefined>(undefined)
  const t = deviceTexts.value
  const read = (): Promise<boolean> =>
    attempt(async () => {
      list.value = await readLicences()
    })
  return (
    <section class="card">
      <h2>{t.licences}</h2>
      <p>{t.licencesText}</p>
      {list.value ? (
        <ul>
          {list.value.map(({ name, version, licence, text }) => (
            <li key={name}>
              <details class="settings-licence" dir="ltr">
                <summary>
                  {name} {version} <span class="soft">{licence}</span>
                </summary>
                <p class="small">{text}</p>
              </details>
            </li>
          ))}
        </ul>
      ) : (
        <Button onClick={read}>{t.licencesShow}</Button>
      )}
    </section>
  )
}
