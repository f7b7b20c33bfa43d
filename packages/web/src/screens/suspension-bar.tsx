// Above every screen: the relay's operator has suspended this account.
import type { ClientError } from '@sotto/client'
import { useEffect, useId } from 'preact/hooks'
import { Button, ButtonLink } from '../parts/button.tsx'
import { now } from '../session/clock.ts'
import { attempt } from '../session/notices.ts'
import { href } from '../session/route.ts'
import { readSuspension } from '../session/suspension-words.ts'
import { useSession } from '../session/use-session.ts'
import { fullTime } from '../texts/dates.ts'
import { suspensionTexts } from '../texts/suspension.ts'
import { texts } from '../texts/texts.ts'

export function SuspensionBar({ error }: { readonly error: ClientError }) {
  const { client, network } = useSession()
  const id = useId()
  const t = suspensionTexts.value
  const { reason, until } = readSuspension(error.message)
  // The client has given up. Each minute it tries again, and the bar goes away once it is connected.
  useEffect(() => {
    client.connect().catch(() => undefined)
  }, [now.value])
  return (
    <section class="app-bar" data-kind="danger" aria-labelledby={id}>
      <div class="app-bar-text" role="alert">
        <strong id={id}>{t.title}</strong>
        {reason !== '' && (
          <p>
            {t.reason} <bdi class="app-bar-words">{reason}</bdi>
          </p>
        )}
        <p>
          {until === undefined ? t.withoutEnd : t.until(fullTime(until))} {t.stillWorks}
        </p>
      </div>
      <ButtonLink href={href('settings')}>{texts.value.common.settings}</ButtonLink>
      <Button
        kind="primary"
        isBusy={network.value === 'connecting'}
        onClick={() => attempt(() => client.connect())}
      >
        {t.check}
      </Button>
    </section>
  )
}
