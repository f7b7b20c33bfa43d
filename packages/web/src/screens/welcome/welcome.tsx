// Welcome: makes an account or recovers one.

import { useSignal } from '@preact/signals'
import { ClientError, type RegistrationProgress, registrationMode } from '@sotto/client'
import type { ComponentChildren } from 'preact'
import { Button } from '../../parts/button.tsx'
import { lazy } from '../../parts/lazy.tsx'
import { prefer } from '../../session/preferences.ts'
import { goFromHere, href, route } from '../../session/route.ts'
import { useSession } from '../../session/use-session.ts'
import { explain } from '../../texts/explain.ts'
import { texts } from '../../texts/texts.ts'
import { NicknameForm } from './nickname-form.tsx'
import { Registering } from './registering.tsx'
import './welcome.css'

const ImportForm = lazy(async () => (await import('./import-form.tsx')).ImportForm)
const InviteForm = lazy(async () => (await import('./invite-form.tsx')).InviteForm)
const RecoverForm = lazy(async () => (await import('./recover-form.tsx')).RecoverForm)

type Step =
  | { readonly at: 'choice' | 'import' }
  | { readonly at: 'nickname' | 'recover'; readonly error?: string }
  | { readonly at: 'invite'; readonly why: string }
  | { readonly at: 'working'; readonly isRecovery: boolean; readonly progress?: RegistrationProgress }

/** @param note what is shown beside the choice */
export function Welcome({ note }: { readonly note?: ComponentChildren }) {
  const { client, relayUrl } = useSession()
  const step = useSignal<Step>({ at: 'choice' })

  // The typed text stays in the forms' signals, so nothing is lost if the relay refuses.
  const nickname = useSignal('')
  const phrase = useSignal('')
  const invite = useSignal('')
  const { path } = route.value
  const invited = path[0] === 'invite' ? path[1] : undefined
  // What was typed is newer than the link.
  const code = invite.value || invited

  const begin = async (): Promise<void> => {
    // If the relay cannot be asked, the registration says why.
    const mode = await registrationMode(relayUrl).catch(() => 'open')
    const isFree = mode === 'open' || (mode === 'invite' && code)
    step.value = isFree ? { at: 'nickname' } : { at: 'invite', why: mode }
  }

  const register = async (isRecovery: boolean): Promise<void> => {
    const go = goFromHere()
    step.value = { at: 'working', isRecovery }
    const onProgress = (progress: RegistrationProgress): void => {
      step.value = { at: 'working', isRecovery, progress }
    }
    try {
      if (isRecovery) {
        prefer({ isPhraseUnconfirmed: false })
        await client.recover({ mnemonic: phrase.value, onProgress })
      } else {
        prefer({ isPhraseUnconfirmed: true })
        await client.create({
          nickname: nickname.value.trim(),
          ...(code ? { invite: code } : {}),
          onProgress,
        })
        if (invited) go(href('chats'), { replace: true })
      }
      phrase.value = ''
    } catch (error) {
      const refusal = (error instanceof ClientError && error.refusal) || ''
      if (/^INVITE|^REGIS/.test(refusal)) {
        step.value = { at: 'invite', why: refusal }
        return
      }
      step.value = { at: isRecovery ? 'recover' : 'nickname', error: explain(error) }
    }
  }

  const t = texts.value.welcome
  const toChoice = (): void => {
    step.value = { at: 'choice' }
  }
  switch (step.value.at) {
    case 'choice':
      return (
        <main class="welcome">
          <img class="welcome-mark" src="./icons/sotto.svg" alt="" width="96" height="96" />
          <h1>{t.title}</h1>
          <p class="soft">{t.intro}</p>
          {note}
          <Button kind="primary" onClick={begin}>
            {t.create}
          </Button>
          <Button kind="quiet" onClick={() => (step.value = { at: 'recover' })}>
            {t.recover}
          </Button>
          <Button kind="quiet" onClick={() => (step.value = { at: 'import' })}>
            {t.importTitle}
          </Button>
        </main>
      )
    case 'import':
      return <ImportForm onBack={toChoice} />
    case 'invite':
      return (
        <InviteForm
          invite={invite}
          why={step.value.why}
          onBack={toChoice}
          onDone={() => (step.value = { at: 'nickname' })}
        />
      )
    case 'nickname':
      return (
        <NicknameForm
          nickname={nickname}
          error={step.value.error}
          onBack={toChoice}
          onSubmit={() => register(false)}
        />
      )
    case 'recover':
      return (
        <RecoverForm
          phrase={phrase}
          error={step.value.error}
          onBack={toChoice}
          onSubmit={() => register(true)}
        />
      )
    case 'working':
      return (
        <Registering
          title={step.value.isRecovery ? t.recovering : t.creating}
          progress={step.value.progress}
        />
      )
    default:
      return step.value satisfies never
  }
}
