// A form: passes on what was typed without leaving the page, and waits until that is done.
import { type Signal, useSignal } from '@preact/signals'
import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { Button, type ButtonProps } from './button.tsx'
import { whileBusy } from './while-busy.ts'

const IsBusy = createContext(false)

interface FormProps {
  readonly children: ComponentChildren
  readonly class?: string | undefined
  /** Takes what was typed. The form is busy until it resolves, and takes nothing else meanwhile. */
  readonly onSubmit: () => unknown
  /** Where the form says whether it is busy, if somebody else has to know. */
  readonly busy?: Signal<boolean>
}

export function Form({ children, class: className, onSubmit, busy }: FormProps) {
  const own = useSignal(false)
  const isBusy = busy ?? own
  return (
    <form
      class={className}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBusy.value) void whileBusy(isBusy, onSubmit)
      }}
    >
      <IsBusy.Provider value={isBusy.value}>{children}</IsBusy.Provider>
    </form>
  )
}

/** The button that submits the form that it is in. It shows that the form is busy. */
export function SubmitButton(props: Omit<ButtonProps, 'isSubmit' | 'isBusy' | 'onClick'>) {
  return <Button {...props} isSubmit isBusy={useContext(IsBusy)} />
}
