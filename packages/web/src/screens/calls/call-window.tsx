// The window of a call. Large, it is a modal dialog. As a card or in the corner, it leaves the page usable
// and takes no focus: a user who is typing when it rings goes on typing, and no key answers the call.
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

interface CallWindowProps {
  readonly shape: 'card' | 'corner' | 'full'
  readonly label: string
  readonly children: ComponentChildren
  readonly onEscape: () => void
}

export function CallWindow({ shape, label, children, onEscape }: CallWindowProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  // Below another modal dialog, its buttons could not be pressed.
  const [isAboveDialog] = useState(() => document.querySelector('dialog:modal') !== null)
  const isModal = shape === 'full' || (shape === 'card' && isAboveDialog)
  useLayoutEffect(() => {
    const before = document.activeElement
    return () => {
      dialog.current?.close()
      if (before instanceof HTMLElement && document.activeElement === document.body) before.focus()
    }
  }, [])
  useLayoutEffect(() => {
    const element = dialog.current
    if (!element) return
    if (element.open) element.close()
    if (isModal) element.showModal()
    else element.open = true
  }, [isModal])
  return (
    <dialog
      ref={dialog}
      class="call-window"
      data-shape={shape}
      aria-label={label}
      tabIndex={-1}
      autofocus
      onCancel={(event) => {
        event.preventDefault()
        onEscape()
      }}
    >
      {children}
    </dialog>
  )
}
