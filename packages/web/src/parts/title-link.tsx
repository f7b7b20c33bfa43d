// The title of a screen about a person or a channel: a picture and a name, which lead to what is known of it.
import type { ComponentChildren } from 'preact'
import { Avatar } from './avatar.tsx'
import './title-link.css'

interface TitleLinkProps {
  readonly href: string
  readonly name: string
  /** What the colour of the avatar is made from. */
  readonly seed: string
  /** A line below the name. */
  readonly detail?: ComponentChildren
}

export function TitleLink({ href, name, seed, detail }: TitleLinkProps) {
  return (
    <a class="title-link" href={href}>
      <Avatar name={name} seed={seed} size="small" />
      <span class="title-link-text">
        <h1 class="one-line">
          <bdi>{name}</bdi>
        </h1>
        {detail && <span class="small soft">{detail}</span>}
      </span>
    </a>
  )
}
