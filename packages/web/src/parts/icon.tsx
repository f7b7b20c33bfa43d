// One icon. It is decoration: the text beside it or the label of its button has the words.
import { signal } from '@preact/signals'
import { notifyError } from '../session/notices.ts'
import { iconPaths } from './icon-paths.ts'
import type { laterIconPaths } from './later-icon-paths.ts'
import './icon.css'

type LaterIconName = keyof typeof laterIconPaths

export type IconName = keyof typeof iconPaths | LaterIconName

const later = signal<typeof laterIconPaths | undefined>(undefined)
let isLoading = false

/** Icons that point along the line of writing. They are mirrored in languages from right to left. */
const DIRECTED: readonly IconName[] = [
  'back',
  'forward',
  'reply',
  'send',
  'channels',
  'speaker',
  'retract',
  'callIn',
  'callOut',
]

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" data-directed={DIRECTED.includes(name)}>
      <path d={pathOf(name)} />
    </svg>
  )
}

/** The outline of an icon; undefined until those that are loaded later are there. */
function pathOf(name: IconName): string | undefined {
  if (isFirst(name)) return iconPaths[name]
  if (!isLoading) void load()
  return later.value?.[name]
}

async function load(): Promise<void> {
  isLoading = true
  try {
    later.value = (await import('./later-icon-paths.ts')).laterIconPaths
  } catch (error) {
    notifyError(error)
    // The next one tries again.
    isLoading = false
  }
}

function isFirst(name: IconName): name is keyof typeof iconPaths {
  return Object.hasOwn(iconPaths, name)
}
