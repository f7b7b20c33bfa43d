// What a screen shows while it has nothing else: empty, loading, failed. Each has one next action.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { Icon, type IconName } from './icon.tsx'
import './state.css'

interface EmptyProps {
  readonly icon: IconName
  readonly title: string
  /** The screen has no other title. */
  readonly isAlone?: boolean
  readonly children?: ComponentChildren
  /** The one next action. */
  readonly action?: ComponentChildren
}

export function Empty({ icon, title, isAlone, children, action }: EmptyProps) {
  const Heading = isAlone ? 'h1' : 'h2'
  return (
    <div class="state">
      <span class="state-icon">
        <Icon name={icon} />
      </span>
      <Heading>{title}</Heading>
      {children && <p class="soft">{children}</p>}
      {action}
    </div>
  )
}

/** A wait shorter than this is not shown, in milliseconds. */
const NOTICED_AFTER_MS = 200

/** Whether the component has been shown for so long that a wait should be shown. */
export function useNoticed(): boolean {
  const [isNoticed, setNoticed] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setNoticed(true), NOTICED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return isNoticed
}

/** Says that something is being loaded, once it takes long enough to be noticed. */
export function Loading() {
  if (!useNoticed()) return <div class="state" aria-busy="true" />
  return (
    <div class="state" role="status">
      <span class="spinner" />
      <p class="soft">{texts.value.common.loading}</p>
    </div>
  )
}
