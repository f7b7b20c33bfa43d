// Finds somebody by alias or link, shows who it is, and asks to become contacts.
import { useSignal } from '@preact/signals'
import type { UserLookup } from '@sotto/client'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { lazy } from '../../parts/lazy.tsx'
import { Screen } from '../../parts/screen.tsx'
import { whileBusy } from '../../parts/while-busy.ts'
import { aliasIn, readInvitation } from '../../session/invitation.ts'
import { notify } from '../../session/notices.ts'
import { go, href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { contactsTexts } from '../../texts/contacts.ts'
import { explain } from '../../texts/explain.ts'
import { scanTexts } from '../../texts/scan.ts'
import { placeOf } from '../invitation/invitation-place.ts'
import { useBefriending } from './befriending.ts'
import { PersonCard } from './person-card.tsx'
import { understand } from './scanned.ts'

const Scanner = lazy(async () => (await import('./scanner.tsx')).Scanner)

export function AddContact() {
  const { identity } = useSession()
  const { isBusy, lookUp, friendOf, request, accept } = useBefriending()
  const typed = useSignal('')
  const found = useSignal<UserLookup | undefined>(undefined)
  const error = useSignal<string | undefined>(undefined)
  const isFinding = useSignal(false)
  const isScanning = useSignal(false)
  const t = contactsTexts.value

  const find = async (): Promise<void> => {
    const invitation = readInvitation(typed.value)
    if (invitation) return go(placeOf(invitation))
    const alias = aliasIn(typed.value)
    if (alias === identity.value?.aliasId) {
      error.value = t.isMe
      return
    }
    try {
      found.value = alias === undefined ? undefined : await lookUp(alias)
      if (!found.value) error.value = t.nobody
    } catch (thrown) {
      error.value = explain(thrown)
    }
  }
  const take = (text: string): void => {
    isScanning.value = false
    const scanned = understand(text)
    if (scanned.kind === 'invitation') return go(placeOf(scanned.invitation))
    if (scanned.kind !== 'alias') return void notify(scanTexts.value.notAnInvitation, { kind: 'error' })
    typed.value = scanned.alias
    void whileBusy(isFinding, find)
  }
  const user = found.value
  return (
    <Screen title={t.add} back={href('contacts')}>
      <div class="column">
        <Form class="card" busy={isFinding} onSubmit={find}>
          <TextField
            label={t.aliasLabel}
            value={typed.value}
            onInput={(value) => {
              typed.value = value
              found.value = undefined
              error.value = undefined
            }}
            hint={t.aliasHint}
            error={error.value}
            isCode
            autocapitalize="off"
            autocomplete="off"
            spellcheck={false}
            maxLength={2000}
            autoFocus
            required
          />
          <SubmitButton kind={user ? 'plain' : 'primary'} icon="search">
            {t.find}
          </SubmitButton>
        </Form>
        {isScanning.value ? (
          <Scanner onText={take} onClose={() => (isScanning.value = false)} />
        ) : (
          <Button icon="qr" onClick={() => (isScanning.value = true)}>
            {scanTexts.value.scan}
          </Button>
        )}
        {user && (
          <PersonCard
            user={user}
            friend={friendOf(user)}
            isBusy={isBusy.value}
            onRequest={() => request(user)}
            onAccept={accept}
          />
        )}
      </div>
    </Screen>
  )
}
