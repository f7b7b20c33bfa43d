// Shows Markdown as elements. Long texts are shown in parts, and texts of a page are read one after the
// other, so that no post keeps the page busy.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { channelsTexts } from '../../texts/channels.ts'
import { MarkdownLink } from './markdown-link.tsx'
import { type MarkdownNode, readMarkdown, textOf } from './markdown-tree.ts'
import { cutText } from './posts.ts'

/** A text is shown up to this many characters, and more of it on demand. */
const PART_CHARACTERS = 3000

export function Markdown({ text }: { readonly text: string }) {
  const [shown, rest] = cutText(text, PART_CHARACTERS)
  const [isLong, setLong] = useState(false)
  return (
    <>
      <MarkdownPart text={shown} />
      {rest !== '' &&
        (isLong ? (
          <Markdown text={rest} />
        ) : (
          <Button kind="quiet" onClick={() => setLong(true)}>
            {channelsTexts.value.showMore}
          </Button>
        ))}
    </>
  )
}

let lastTurn: Promise<void> = Promise.resolve()

/** Resolves when it is this caller's turn, with time for the page between one turn and the next. */
function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setTimeout(resolve)))
  return lastTurn
}

function MarkdownPart({ text }: { readonly text: string }) {
  const [read, setRead] = useState<{ readonly text: string; readonly nodes: readonly MarkdownNode[] }>()
  useEffect(() => {
    let isShown = true
    void nextTurn().then(() => {
      if (isShown) setRead({ text, nodes: readMarkdown(text) })
    })
    return () => {
      isShown = false
    }
  }, [text])
  if (read?.text !== text)
    return (
      <p class="markdown-unread" dir="auto" aria-busy="true">
        {text}
      </p>
    )
  return <div class="markdown">{shownAs(read.nodes)}</div>
}

function shownAs(nodes: readonly MarkdownNode[]): ComponentChildren {
  return nodes.map(nodeOf)
}

function nodeOf(node: MarkdownNode): ComponentChildren {
  switch (node.kind) {
    case 'text':
      return node.text
    case 'break':
      return <br />
    case 'rule':
      return <hr />
    case 'code':
      if (!node.isBlock) return <code class="code">{node.text}</code>
      return (
        <pre dir="ltr">
          <code>{node.text}</code>
        </pre>
      )
    case 'link':
      return (
        <MarkdownLink href={node.href} text={textOf(node.children)}>
          {shownAs(node.children)}
        </MarkdownLink>
      )
    case 'element':
      return elementOf(node)
  }
}

function elementOf({ name, start, children }: MarkdownNode & { readonly kind: 'element' }) {
  const content = shownAs(children)
  switch (name) {
    case 'paragraph':
      return <p dir="auto">{content}</p>
    case 'heading':
      // One level below the name of the channel, so that no level is left out.
      return (
        <h2 class="markdown-heading" dir="auto">
          {content}
        </h2>
      )
    case 'quote':
      return <blockquote>{content}</blockquote>
    case 'bullets':
      return <ul>{content}</ul>
    case 'numbers':
      return <ol start={start}>{content}</ol>
    case 'item':
      return <li dir="auto">{content}</li>
    case 'strong':
      return <strong>{content}</strong>
    case 'emphasis':
      return <em>{content}</em>
    case 'struck':
      return <s>{content}</s>
  }
}
