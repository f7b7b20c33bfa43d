// Finds somebody by alias, shows who it is, and asks to become contacts.

import { useSignal } from '@preact/signals'
import { ClientError, type UserLookup } from '@sotto/client'
import { Avatar } from '../../parts/avatar.tsx'
import { Button, ButtonLink } from '../../parts/button.tsx'
import { TextField } from '../../parts/field.tsx'
import { Screen } from '../../parts/screen.tsx'
import { attempt, notify } from '../../session/notices.ts'
import { go, href } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { explain } from '../../texts/explain.ts'
import { texts } from '../../texts/texts.ts'

export function AddContact() {
  const { client, friends, identity } = useSession()
  const typed = useSignal('')
  const found = useSignal<{ readonly alias: string; readonly user: UserLookup } | undefined>(undefined)
  const error = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const t = texts.value.contacts

  const find = async (): Promise<void> => {
    const alias = typed.value.trim().replace(/^@/, '').toLowerCase()
    if (alias === identity.value?.aliasId) {
      error.value = t.isMe
      return
    }
    isBusy.value = true
    try {
      found.value = { alias, user: await client.lookUpUser(alias) }
    } catch (thrown) {
      error.value = isNobody(thrown) ? t.nobody : explain(thrown)
    }
    isBusy.value = false
  }
  const request = async (alias: string, nickname: string): Promise<void> => {
    isBusy.value = true
    if (await attempt(() => client.requestFriend(alias))) {
      notify(t.requested(nickname))
      go(href('contacts'))
    }
    isBusy.value = false
  }
  const shown = found.value
  const friend = shown && friends.value.find(({ alias_id }) => alias_id === shown.alias)
  return (
    <Screen title={t.add} back={href('contacts')}>
      <div class="column">
        <form
          class="card"
          onSubmit={(event) => {
            event.preventDefault()
            void find()
          }}
        >
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
            maxLength={64}
            autoFocus
            required
          />
          <Button kind={shown ? 'plain' : 'primary'} isSubmit icon="search" isBusy={isBusy.value && !shown}>
            {t.find}
          </Button>
        </form>
        {shown && (
          <div class="card contacts-person">
            <Avatar name={shown.user.nickname} seed={shown.alias} size="large" />
            <h2>
              <bdi>{shown.user.nickname}</bdi>
            </h2>
            <span class="code soft">{shown.alias}</span>
            {friend?.status === 'accepted' ? (
              <>
                <p>{t.already}</p>
                <ButtonLink href={href('chats', friend.conversation_id)}>{t.open}</ButtonLink>
              </>
            ) : friend?.direction === 'sent' ? (
              <p>{t.pending}</p>
            ) : (
              <Button
                kind="primary"
                isBusy={isBusy.value}
                onClick={() => request(shown.alias, shown.user.nickname)}
              >
                {t.request}
              </Button>
            )}
          </div>
        )}
      </div>
    </Screen>
  )
}

function isNobody(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false
  return error.code === 'INVALID_ARGUMENT' || error.refusal === 'NOT_FOUND'
}
