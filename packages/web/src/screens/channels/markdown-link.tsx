// A link in a post. If its words are not its address, it shows the address before it leads there.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { LinkDialog } from '../conversation/link-dialog.tsx'
import { isMisleading } from '../conversation/links.ts'

interface MarkdownLinkProps {
  /** An address of the web or of a mailbox. */
  readonly href: string
  /** The words of the link. */
  readonly text: string
  readonly children: ComponentChildren
}

export function MarkdownLink({ href, text, children }: MarkdownLinkProps) {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <a
        class="link markdown-link"
        href={href}
        target="_blank"
        rel="noopener noreferrer"
        onClick={(event) => {
          if (!isMisleading({ text, href })) return
          event.preventDefault()
          setAsking(true)
        }}
      >
        {children}
      </a>
      {isAsking && <LinkDialog link={{ text, href }} onClose={() => setAsking(false)} />}
    </>
  )
}
