// A person's or a channel's picture: the initials of the name, on a colour of the key.
import './avatar.css'

interface AvatarProps {
  readonly name: string
  /** What the colour is made from: an id or a key that does not change. */
  readonly seed: string
  readonly size?: 'small' | 'normal' | 'large'
}

export function Avatar({ name, seed, size = 'normal' }: AvatarProps) {
  return (
    <span class={`avatar avatar-${size}`} style={{ '--avatar-hue': String(hueOf(seed)) }} aria-hidden="true">
      {initialsOf(name)}
    </span>
  )
}

const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The first character of the first two words. */
function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/u).slice(0, 2)
  return words.map((word) => [...segments.segment(word)][0]?.segment.toUpperCase() ?? '').join('')
}

/** One of 24 hues. */
function hueOf(seed: string): number {
  let sum = 0
  for (const character of seed) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521
  return (sum % 24) * 15
}
