// Welcome: makes an account or recovers one.

import { useSignal } from '@preact/signals'
import type { RegistrationProgress } from '@sotto/client'
import type { ComponentChildren } from 'preact'
import { Button } from '../../parts/button.tsx'
import { lazy } from '../../parts/lazy.tsx'
import { prefer } from '../../session/preferences.ts'
import { useSession } from '../../session/use-session.ts'
import { explain } from '../../texts/explain.ts'
import { texts } from '../../texts/texts.ts'
import { NicknameForm } from './nickname-form.tsx'
import { RecoverForm } from './recover-form.tsx'
import { Registering } from './registering.tsx'
import './welcome.css'

const ImportForm = lazy(async () => (await import('./import-form.tsx')).ImportForm)

type Step =
  | { readonly at: 'choice' | 'import' }
  | { readonly at: 'nickname' | 'recover'; readonly error?: string }
  | { readonly at: 'working'; readonly isRecovery: boolean; readonly progress?: RegistrationProgress }

/** @param note what is shown beside the choice */
export function Welcome({ note }: { readonly note?: ComponentChildren }) {
  const { client } = useSession()
  const step = useSignal<Step>({ at: 'choice' })

  // The typed text stays in the forms' signals, so nothing is lost if the relay refuses.
  const nickname = useSignal('')
  const phrase = useSignal('')

  const register = async (isRecovery: boolean): Promise<void> => {
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
        await client.create({ nickname: nickname.value.trim(), onProgress })
      }
      phrase.value = ''
    } catch (error) {
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
          <Button kind="primary" onClick={() => (step.value = { at: 'nickname' })}>
            {t.create}
          </Button>
          <Button kind="quiet" onClick={() => (step.value = { at: 'recover' })}>
            {t.recover}
          </Button>
          <Button kind="quiet" onClick={() => (step.value = { at: 'import' })}>
            {texts.value.device.importTitle}
          </Button>
        </main>
      )
    case 'import':
      return <ImportForm onBack={toChoice} />
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
