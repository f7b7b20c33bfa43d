// Offers a new version of the app, once it is complete on this device.
import { Button, IconButton } from '../../parts/button.tsx'
import { isUpdateReady, putOffUpdate, takeUpdate } from '../../session/updates.ts'
import { texts } from '../../texts/texts.ts'
import './update.css'

export function Update() {
  const { updates: t, common } = texts.value
  return (
    <div class="update" role="status">
      {isUpdateReady() && (
        <div class="update-offer">
          <span>{t.ready}</span>
          <Button kind="primary" onClick={takeUpdate}>
            {t.update}
          </Button>
          <IconButton icon="close" label={common.close} onClick={putOffUpdate} />
        </div>
      )}
    </div>
  )
}
