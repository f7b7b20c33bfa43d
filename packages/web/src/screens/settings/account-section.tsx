// The account: nickname, name for contacts, recovery phrase, logging out, erasing and deleting.
import { useSignal } from '@preact/signals'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { Form, SubmitButton } from '../../parts/form.tsx'
import { attempt, notify } from '../../session/notices.ts'
import { useSession } from '../../session/use-session.ts'
import { settingsTexts } from '../../texts/settings.ts'
import { texts } from '../../texts/texts.ts'
import { ContactNameForm } from './contact-name-form.tsx'
import { DeleteAccount } from './delete-account.tsx'
import { InvitesCard } from './invites-card.tsx'
import { PassphraseGate } from './passphrase-gate.tsx'
import { PhraseCard } from './phrase-card.tsx'

export function AccountSection() {
  const { client, identity } = useSession()
  const nickname = useSignal(identity.value?.nickname ?? '')
  const asked = useSignal<'logOut' | 'erase' | 'delete' | undefined>(undefined)
  const t = settingsTexts.value
  const ask = (what: typeof asked.value) => (): void => {
    asked.value = what
  }
  const save = async (): Promise<void> => {
    if (await attempt(() => client.setNickname(nickname.value.trim()))) notify(t.nicknameSaved)
  }
  const logOut = async (): Promise<void> => {
    if (await attempt(() => client.logOutEverywhere())) notify(t.logOutDone)
  }
  return (
    <>
      <Form class="card" onSubmit={save}>
        <TextField
          label={t.nickname}
          value={nickname.value}
          onInput={(value) => (nickname.value = value)}
          hint={t.nicknameHint}
          maxLength={64}
          autocomplete="nickname"
          required
        />
        <SubmitButton isDisabled={nickname.value.trim() === (identity.value?.nickname ?? '')}>
          {texts.value.common.save}
        </SubmitButton>
      </Form>
      <ContactNameForm />
      <PassphraseGate title={t.phraseTitle}>
        <PhraseCard />
      </PassphraseGate>
      <InvitesCard />
      <section class="card">
        <p class="soft">{t.logOutHint}</p>
        <Button onClick={ask('logOut')}>{t.logOut}</Button>
      </section>
      <section class="card">
        <p class="soft">{t.eraseHint}</p>
        <Button onClick={ask('erase')}>{t.erase}</Button>
      </section>
      <section class="card">
        <p class="soft">{t.deleteHint}</p>
        <Button kind="danger" onClick={ask('delete')}>
          {t.deleteAccount}
        </Button>
      </section>
      {asked.value === 'logOut' && (
        <Confirm
          title={t.logOut}
          text={t.logOutText}
          action={t.logOut}
          onConfirm={logOut}
          onClose={ask(undefined)}
        />
      )}
      {asked.value === 'erase' && (
        <Confirm
          title={t.erase}
          text={t.eraseText}
          action={t.eraseDo}
          isDangerous
          onConfirm={() => attempt(() => client.logOut({ erase: true }))}
          onClose={ask(undefined)}
        />
      )}
      {asked.value === 'delete' && (
        <DeleteAccount
          alias={identity.value?.aliasId ?? ''}
          onConfirm={() => attempt(() => client.deleteAccount())}
          onClose={ask(undefined)}
        />
      )}
    </>
  )
}
