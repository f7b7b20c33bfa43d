// One icon. It is decoration: what it stands beside, or its button, has the words.
import { type IconName, iconPaths } from './icon-paths.ts'
import './icon.css'

export type { IconName } from './icon-paths.ts'

/** Icons that point along the line of writing, and so the other way from right to left. */
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
      <path d={iconPaths[name]} />
    </svg>
  )
}
