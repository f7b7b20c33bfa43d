// How much the app keeps in this browser, and whether the browser has promised to keep it.
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { MediaFiles } from '../../session/media-files.ts'
import { attempt, notify } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { sizeOf } from '../../texts/dates.ts'
import { deviceTexts } from '../../texts/device.ts'

export function StorageSection() {
  const media = MediaFiles.of(useSession().client)
  // Some browsers keep no account of what a page stores, and promise nothing.
  const storage: StorageManager | undefined = navigator.storage
  const usedBytes = useSignal<number | undefined>(undefined)
  const isKept = useSignal(false)
  const t = deviceTexts.value
  useEffect(() => {
    if (!storage) return
    void attempt(async () => {
      const [estimate, isPersisted] = await Promise.all([storage.estimate(), storage.persisted()])
      usedBytes.value = estimate.usage
      isKept.value = isPersisted
    })
  }, [])
  const ask = (): Promise<boolean> =>
    attempt(async () => {
      isKept.value = (await storage?.persist()) ?? false
      if (!isKept.value) notify(t.storageRefused)
    })
  return (
    <div class="card">
      <p>{usedBytes.value === undefined ? t.storageUnknown : t.storageUsed(sizeOf(usedBytes.value))}</p>
      <p class="soft">{isKept.value ? t.storageKept : storage ? t.storageRisk : t.storageNoPromise}</p>
      {storage && !isKept.value && <Button onClick={ask}>{t.storageAsk}</Button>}
      {media.sizeBytes > 0 && (
        <>
          <p class="soft">{t.storageMedia(sizeOf(media.sizeBytes))}</p>
          <Button icon="trash" onClick={() => media.clear()}>
            {t.storageClear}
          </Button>
        </>
      )}
    </div>
  )
}
