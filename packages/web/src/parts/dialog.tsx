// A dialog above the page. The browser keeps the focus in it, closes it by Escape and gives the focus back.
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { Button, IconButton } from './button.tsx'
import { useIsShown } from './use-is-shown.ts'
import './dialog.css'

interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  readonly onClose: () => void
  /** The buttons at the end. */
  readonly actions?: ComponentChildren
  /** For what must be answered: a tap beside the dialog does not close it. */
  readonly isModal?: boolean
}

export function Dialog({ title, children, onClose, actions, isModal = false }: DialogProps) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal()
  }, [])
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onClose={onClose}
      onClick={({ target, currentTarget }) => {
        if (target === currentTarget && !isModal) currentTarget.close()
      }}
    >
      <div class="dialog-content">
        <header class="dialog-header">
          <h2 id={id}>{title}</h2>
          <IconButton icon="close" label={texts.value.common.close} onClick={() => dialog.current?.close()} />
        </header>
        {children}
        {actions && <footer class="dialog-actions">{actions}</footer>}
      </div>
    </dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly text: string
  /** The word on the button that does it. */
  readonly action: string
  readonly isDangerous?: boolean
  /** Does it. The dialog stays open until that is done or the user leaves, and closes when it resolves. */
  readonly onConfirm: () => unknown
  readonly onClose: () => void
}

/** Asks before something is done. */
export function Confirm({ title, text, action, isDangerous, onConfirm, onClose }: ConfirmProps) {
  const [isBusy, setBusy] = useState(false)
  const isShown = useIsShown()
  const confirm = async (): Promise<void> => {
    setBusy(true)
    await onConfirm()
    if (isShown()) onClose()
  }
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{texts.value.common.cancel}</Button>
          <Button kind={isDangerous ? 'danger' : 'primary'} isBusy={isBusy} onClick={confirm}>
            {action}
          </Button>
        </>
      }
    >
      <p>{text}</p>
    </Dialog>
  )
}
