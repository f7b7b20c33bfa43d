// The passphrase of this device.
import { useSignal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/choice.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { whileBusy } from '../../parts/while-busy.ts'
import { attempt, notify } from '../../session/notices.ts'
import { LOCK_AFTER, prefer, preferences } from '../../session/preferences.ts'
import { useSession } from '../../session/use-session.ts'
import { settingsTexts } from '../../texts/settings.ts'
import { PassphraseGate } from './passphrase-gate.tsx'

export function LockSection() {
  const session = useSession()
  const first = useSignal('')
  const second = useSignal('')
  const isBusy = useSignal(false)
  const t = settingsTexts.value
  const differs = second.value !== '' && first.value !== second.value

  const set = async (passphrase: string | undefined): Promise<void> => {
    if (!(await attempt(() => session.setPassphrase(passphrase)))) return
    notify(passphrase === undefined ? t.passphraseRemoved : t.passphraseIsSet)
    first.value = ''
    second.value = ''
  }
  return (
    <>
      <p class="soft">{t.lockText}</p>
      {session.hasPassphrase.value && (
        <Button kind="primary" icon="lock" onClick={() => attempt(() => session.client.lock())}>
          {t.lockNow}
        </Button>
      )}
      <PassphraseGate title={t.passphraseChange}>
        <Form class="card" busy={isBusy} onSubmit={() => differs || set(first.value)}>
          <TextField
            label={t.passphraseNew}
            value={first.value}
            onInput={(value) => (first.value = value)}
            hint={t.passphraseHint}
            isSecret
            autocomplete="new-password"
            required
          />
          <TextField
            label={t.passphraseAgain}
            value={second.value}
            onInput={(value) => (second.value = value)}
            error={differs ? t.passphraseDiffers : undefined}
            isSecret
            autocomplete="new-password"
            required
          />
          <SubmitButton kind={session.hasPassphrase.value ? 'plain' : 'primary'}>
            {t.passphraseSet}
          </SubmitButton>
        </Form>
        {session.hasPassphrase.value && (
          <div class="card">
            <Choice
              label={t.lockAfter}
              value={String(preferences.value.lockAfterMinutes)}
              options={LOCK_AFTER.map((minutes) => ({
                value: String(minutes),
                label: minutes === 0 ? t.lockNever : t.lockMinutes(minutes),
              }))}
              onChange={(chosen) =>
                prefer({ lockAfterMinutes: LOCK_AFTER.find((each) => String(each) === chosen) ?? 0 })
              }
            />
            <p class="field-hint">{t.lockAfterHint}</p>
          </div>
        )}
        {session.hasPassphrase.value && (
          <Button
            kind="quiet"
            isDisabled={isBusy.value}
            onClick={() => whileBusy(isBusy, () => set(undefined))}
          >
            {t.passphraseRemove}
          </Button>
        )}
      </PassphraseGate>
    </>
  )
}
