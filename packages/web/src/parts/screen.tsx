// The frame of a screen: a header that stays, and content that scrolls.
import type { ComponentChildren } from 'preact'
import { texts } from '../texts/texts.ts'
import { IconLink } from './button.tsx'
import './screen.css'

interface ScreenProps {
  /** Empty if the content begins with the title. */
  readonly title: ComponentChildren
  /** The address that the back button leads to; without it there is no button. */
  readonly back?: string
  /** On a wide screen, the navigation leads there already. */
  readonly isBackNarrow?: boolean
  /** Buttons at the end of the header. */
  readonly actions?: ComponentChildren
  /** Below the header, above the content: a search field, a notice. */
  readonly top?: ComponentChildren
  readonly children: ComponentChildren
  /** What stays below the content. */
  readonly bottom?: ComponentChildren
  /** The content scrolls by itself. */
  readonly isFixed?: boolean
}

export function Screen({
  title,
  back,
  isBackNarrow = false,
  actions,
  top,
  children,
  bottom,
  isFixed,
}: ScreenProps) {
  return (
    <section class="screen">
      <header class="screen-header">
        {back && (
          <span class="screen-back" data-narrow={isBackNarrow}>
            <IconLink icon="back" label={texts.value.common.back} href={back} />
          </span>
        )}
        {typeof title === 'string' && title !== '' ? <h1 class="screen-title one-line">{title}</h1> : title}
        {actions && <div class="screen-actions">{actions}</div>}
      </header>
      {top}
      <div class={isFixed ? 'screen-fixed' : 'screen-content'}>{children}</div>
      {bottom}
    </section>
  )
}
