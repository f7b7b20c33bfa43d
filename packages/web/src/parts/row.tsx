// One row of a list: a picture, a title and a line below it, and something at the end.
import type { ComponentChildren } from 'preact'
import './row.css'

interface RowProps {
  readonly lead?: ComponentChildren
  readonly title: ComponentChildren
  /** Words of the app before the detail: who wrote it. */
  readonly before?: ComponentChildren
  readonly detail?: ComponentChildren
  readonly end?: ComponentChildren
  /** The place that the row opens. */
  readonly href?: string
  readonly isCurrent?: boolean
  readonly onClick?: () => void
}

export function Row({ lead, title, before, detail, end, href, isCurrent, onClick }: RowProps) {
  const content = (
    <>
      {lead}
      <span class="row-text">
        <span class="row-title one-line">{title}</span>
        {detail && (
          <span class="row-detail one-line">
            {before && <span class="row-before">{before}</span>} {detail}
          </span>
        )}
      </span>
      {end && <span class="row-end">{end}</span>}
    </>
  )
  if (href !== undefined)
    return (
      <a class="row" href={href} aria-current={isCurrent ? 'page' : undefined}>
        {content}
      </a>
    )
  if (onClick)
    return (
      <button type="button" class="row" onClick={onClick}>
        {content}
      </button>
    )
  return <div class="row">{content}</div>
}
