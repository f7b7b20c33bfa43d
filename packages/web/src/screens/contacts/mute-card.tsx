// Whether a conversation is muted, and for how long.
import { useSignal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { contactsTexts } from '../../texts/contacts.ts'
import { fullTime } from '../../texts/dates.ts'

const HOUR_MS = 3_600_000
/** Muted until the user changes it. */
const ALWAYS_MS = Number.MAX_SAFE_INTEGER
/** A mute that ends later than this counts as one without an end. */
const NEVER_ENDS_MS = 8.64e15

interface MuteCardProps {
  readonly mutedUntil: number | undefined
  readonly nowMs: number
  readonly onMute: (until: number | undefined) => void
}

export function MuteCard({ mutedUntil = 0, nowMs, onMute }: MuteCardProps) {
  const isAsking = useSignal(false)
  const t = contactsTexts.value
  const isMuted = mutedUntil > nowMs
  const choose = (until: number): void => {
    isAsking.value = false
    onMute(until)
  }
  return (
    <div class="card card-line">
      <div>
        <h2>
          {!isMuted
            ? t.mute
            : mutedUntil >= NEVER_ENDS_MS
              ? t.mutedAlways
              : t.mutedUntil(fullTime(mutedUntil))}
        </h2>
        <p class="soft small">{t.muteText}</p>
      </div>
      {isMuted ? (
        <Button icon="bell" onClick={() => onMute(undefined)}>
          {t.unmute}
        </Button>
      ) : (
        <Button icon="bellOff" onClick={() => (isAsking.value = true)}>
          {t.mute}
        </Button>
      )}
      {isAsking.value && (
        <Dialog title={t.muteFor} onClose={() => (isAsking.value = false)}>
          <div class="contacts-choices">
            <Button onClick={() => choose(nowMs + HOUR_MS)}>{t.muteHour}</Button>
            <Button onClick={() => choose(nowMs + 8 * HOUR_MS)}>{t.muteNight}</Button>
            <Button onClick={() => choose(nowMs + 7 * 24 * HOUR_MS)}>{t.muteWeek}</Button>
            <Button onClick={() => choose(ALWAYS_MS)}>{t.muteAlways}</Button>
          </div>
        </Dialog>
      )}
    </div>
  )
}
