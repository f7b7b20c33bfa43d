// A button that opens a menu.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { IconButton } from './button.tsx'
import type { IconName } from './icon.tsx'
import type { Place } from './menu-place.ts'

interface MenuButtonProps {
  readonly label: string
  readonly icon?: IconName
  /** The open menu, at this place. */
  readonly children: (place: Place, onClose: () => void) => ComponentChildren
}

export function MenuButton({ label, icon = 'more', children }: MenuButtonProps) {
  const [button, setButton] = useState<HTMLElement>()
  return (
    <>
      <IconButton
        icon={icon}
        label={label}
        isExpanded={button !== undefined}
        onClick={({ currentTarget }) => {
          if (currentTarget instanceof HTMLElement) setButton(button ? undefined : currentTarget)
        }}
      />
      {button && children({ element: button }, () => setButton(undefined))}
    </>
  )
}
