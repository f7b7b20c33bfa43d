// What a screen shows while it has nothing else: empty, loading, failed. Each has one next action.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { Icon, type IconName } from './icon.tsx'
import './state.css'

interface EmptyProps {
  readonly icon: IconName
  readonly title: string
  readonly children?: ComponentChildren
  /** The one next action. */
  readonly action?: ComponentChildren
}

export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div class="state">
      <span class="state-icon">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      {children && <p class="soft">{children}</p>}
      {action}
    </div>
  )
}

/** What takes less than this is done before anything would be seen. */
const SHOWN_AFTER_MS = 200

/** Says that something is being loaded, once it takes long enough to be noticed. */
export function Loading() {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!isShown) return <div class="state" aria-busy="true" />
  return (
    <div class="state" role="status">
      <span class="spinner" />
      <p class="soft">{texts.value.common.loading}</p>
    </div>
  )
}
