// Buttons, and links that look like them.
import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'
import './button.css'

export interface ButtonProps {
  readonly children: ComponentChildren
  /** `primary` is the one next action of a screen; `quiet` has no frame. */
  readonly kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  readonly icon?: IconName
  readonly onClick?: () => void
  /** Submits the form that it is in. */
  readonly isSubmit?: boolean
  readonly isDisabled?: boolean
  /** Something is being done; the button waits for it. */
  readonly isBusy?: boolean
}

export function Button({
  children,
  kind = 'plain',
  icon,
  onClick,
  isSubmit,
  isDisabled,
  isBusy,
}: ButtonProps) {
  return (
    <button
      type={isSubmit ? 'submit' : 'button'}
      class={`button button-${kind}`}
      disabled={isDisabled || isBusy}
      aria-busy={isBusy}
      onClick={onClick}
    >
      {isBusy ? <span class="spinner" /> : icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  )
}

interface ButtonLinkProps {
  readonly children: ComponentChildren
  readonly href: string
  readonly kind?: 'primary' | 'plain' | 'quiet'
  readonly icon?: IconName
}

/** A link to another place of the app. */
export function ButtonLink({ children, href, kind = 'plain', icon }: ButtonLinkProps) {
  return (
    <a class={`button button-${kind}`} href={href}>
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </a>
  )
}

interface IconButtonProps {
  readonly icon: IconName
  /** What it does, for the tooltip and for screen readers. */
  readonly label: string
  readonly onClick?: (event: MouseEvent) => void
  readonly isPressed?: boolean
  readonly isDisabled?: boolean
  readonly kind?: 'quiet' | 'primary' | 'danger'
  readonly isSubmit?: boolean
  /** It opens a menu, which is open or not. */
  readonly isExpanded?: boolean
  /** Tab passes it by: the keyboard has another way to the same. */
  readonly isSkipped?: boolean
}

export function IconButton({
  icon,
  label,
  onClick,
  isPressed,
  isDisabled,
  kind = 'quiet',
  isSubmit,
  isExpanded,
  isSkipped,
}: IconButtonProps) {
  return (
    <button
      type={isSubmit ? 'submit' : 'button'}
      class={`icon-button icon-button-${kind}`}
      title={label}
      aria-label={label}
      aria-pressed={isPressed}
      disabled={isDisabled}
      aria-haspopup={isExpanded === undefined ? undefined : 'menu'}
      aria-expanded={isExpanded}
      tabIndex={isSkipped ? -1 : undefined}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  )
}

/** The same as a link. */
export function IconLink({
  icon,
  label,
  href,
}: {
  readonly icon: IconName
  readonly label: string
  readonly href: string
}) {
  return (
    <a class="icon-button icon-button-quiet" href={href} title={label} aria-label={label}>
      <Icon name={icon} />
    </a>
  )
}
