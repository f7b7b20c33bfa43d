// The keys of a contact have changed: what that means, what to do, and a deliberate choice.
import { useSignal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { texts } from '../../texts/texts.ts'
import { trustTexts } from '../../texts/trust.ts'
import { CodeGroups } from './code-groups.tsx'

interface KeysChangedProps {
  readonly name: string
  readonly newCode: string
  readonly oldCode: string
  readonly isOnline: boolean
  /** @param comparedCode the code that the user has compared; undefined if it was none */
  readonly onRenew: (comparedCode?: string) => Promise<void>
}

export function KeysChanged({ name, newCode, oldCode, isOnline, onRenew }: KeysChangedProps) {
  const asked = useSignal<'same' | 'blind' | undefined>(undefined)
  const t = trustTexts.value
  return (
    <div class="column">
      <div class="card contacts-alarm" role="alert">
        <h2>
          <Icon name="warning" />
          {t.changedTitle(name)}
        </h2>
        <p>
          <strong>{texts.value.common.keysChangedShort}</strong>
        </p>
        <p>{t.changedWhy}</p>
      </div>
      <div class="card">
        <h2>{t.changedWhat}</h2>
        <ol class="contacts-steps">
          {t.changedSteps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
      </div>
      <div class="card contacts-person">
        <h2>{t.newCode}</h2>
        <CodeGroups code={newCode} />
        <Button kind="primary" icon="check" isDisabled={!isOnline} onClick={() => (asked.value = 'same')}>
          {t.renewSame}
        </Button>
        <Button kind="danger" isDisabled={!isOnline} onClick={() => (asked.value = 'blind')}>
          {t.renewBlind}
        </Button>
        {!isOnline && <p class="soft small">{t.needsRelay}</p>}
        <h2>{t.oldCode}</h2>
        <p class="code soft small">{oldCode}</p>
      </div>
      {asked.value === 'same' && (
        <Confirm
          title={t.renewSame}
          text={t.renewSameText}
          action={t.same}
          onConfirm={() => onRenew(newCode)}
          onClose={() => (asked.value = undefined)}
        />
      )}
      {asked.value === 'blind' && (
        <Confirm
          title={t.renewBlindTitle}
          text={t.renewBlindText}
          action={t.renewBlind}
          isDangerous
          onConfirm={() => onRenew()}
          onClose={() => (asked.value = undefined)}
        />
      )}
    </div>
  )
}
