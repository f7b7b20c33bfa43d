// Shows how far a registration is.
import type { RegistrationProgress } from '@sotto/client'
import { useFirstFocus } from '../../parts/focus.ts'
import { texts } from '../../texts/texts.ts'

interface RegisteringProps {
  readonly title: string
  readonly progress: RegistrationProgress | undefined
}

export function Registering({ title, progress }: RegisteringProps) {
  const t = texts.value.welcome
  const heading = useFirstFocus<HTMLHeadingElement>()
  return (
    <main class="welcome" aria-busy="true">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <progress class="welcome-progress" max={1} value={shareOf(progress)} aria-label={title} />
      <p role="status">{progress ? t.steps[progress.step] : ' '}</p>
      <p class="soft">{t.creatingHint}</p>
    </main>
  )
}

/** Nearly all of the time is work, and its length depends on luck. The bar never passes its end. */
function shareOf(progress: RegistrationProgress | undefined): number {
  if (!progress) return 0
  if (progress.step === 'derive_keys') return 0.03
  if (progress.step !== 'proof_of_work') return 0.9 + progress.number / 60
  return 0.05 + 0.85 * (1 - Math.exp(-1.6 * (progress.shareOfExpectedWork ?? 0)))
}
