// Offers a new version of the app, once it is complete on this device.
import { Button } from '../../parts/button.tsx'
import { isUpdateReady, takeUpdate } from '../../session/updates.ts'
import { texts } from '../../texts/texts.ts'
import './update.css'

export function Update() {
  const t = texts.value.updates
  return (
    <div class="update" role="status">
      {isUpdateReady() && (
        <div class="update-offer">
          <span>{t.ready}</span>
          <Button kind="primary" onClick={takeUpdate}>
            {t.update}
          </Button>
        </div>
      )}
    </div>
  )
}
