// Above every screen: the store of this device has failed. Nothing is stored until it is opened again.
import { useSignal } from '@preact/signals'
import { Button, ButtonLink } from '../parts/button.tsx'
import { href } from '../session/route.ts'
import { useSession } from '../session/use-session.ts'
import { explain } from '../texts/explain.ts'
import { storeTexts } from '../texts/store.ts'

export function StoreBar() {
  const { client } = useSession()
  const isBusy = useSignal(false)
  const failure = useSignal<unknown>(undefined)
  const t = storeTexts.value
  const reopen = async (): Promise<void> => {
    isBusy.value = true
    try {
      await client.reopen()
    } catch (error) {
      failure.value = error
    }
    isBusy.value = false
  }
  return (
    <div class="app-bar" data-kind="danger" role="alert">
      <div class="app-bar-text">
        <strong>{t.failedTitle}</strong>
        <p>{failure.value === undefined ? t.failedText : explain(failure.value)}</p>
      </div>
      <ButtonLink icon="storage" href={href('settings', 'storage')}>
        {t.storage}
      </ButtonLink>
      {failure.value === undefined ? (
        <Button kind="primary" isBusy={isBusy.value} onClick={reopen}>
          {t.goOn}
        </Button>
      ) : (
        <Button kind="primary" onClick={() => location.reload()}>
          {t.reload}
        </Button>
      )}
    </div>
  )
}
