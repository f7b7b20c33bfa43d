// The text of a message: with its links, and folded if it is long.
import { useMemo, useState } from 'preact/hooks'
import { texts } from '../../texts/texts.ts'
import { foldedLength } from './folding.ts'
import { isMisleading, partsOf, type TextPart } from './links.ts'

interface MessageTextProps {
  readonly text: string
  readonly isFocusable: boolean
  readonly onMisleadingLink: (link: Required<TextPart>) => void
}

export function MessageText({ text, isFocusable, onMisleadingLink }: MessageTextProps) {
  const [isOpen, setOpen] = useState(false)
  const length = useMemo(() => foldedLength(text), [text])
  const isFolded = length < text.length && !isOpen
  const parts = useMemo(() => partsOf(isFolded ? text.slice(0, length) : text), [text, isFolded])
  const t = texts.value.conversation
  const tabIndex = isFocusable ? 0 : -1
  return (
    <>
      <p class="bubble-text" dir="auto">
        {parts.map(({ text: part, href }, at) =>
          href === undefined ? (
            part
          ) : (
            <a
              key={at}
              class="link"
              href={href}
              target="_blank"
              rel="noopener noreferrer"
              tabIndex={tabIndex}
              onClick={(event) => {
                if (!isMisleading({ text: part, href })) return
                event.preventDefault()
                onMisleadingLink({ text: part, href })
              }}
            >
              {part}
            </a>
          ),
        )}
        {isFolded && '…'}
      </p>
      {length < text.length && (
        <button type="button" class="link bubble-fold" tabIndex={tabIndex} onClick={() => setOpen(!isOpen)}>
          {isOpen ? t.showLess : t.showMore}
        </button>
      )}
    </>
  )
}
