// One post.
import type { ChannelPost } from '@sotto/client'
import { IconButton } from '../../parts/button.tsx'
import { channelsTexts } from '../../texts/channels.ts'
import { fullTime } from '../../texts/dates.ts'
import { texts } from '../../texts/texts.ts'
import { Markdown } from './markdown.tsx'

interface PostProps {
  readonly post: ChannelPost
  /** Only for the owner. */
  readonly onDelete: (() => void) | undefined
  /** For everybody else. */
  readonly onReport: (() => void) | undefined
}

export function Post({ post, onDelete, onReport }: PostProps) {
  const { content, created_at, author_alias_id } = post
  return (
    <article class="card channels-post">
      <header class="channels-post-header small soft">
        <span>
          <span class="code">{author_alias_id}</span> ·{' '}
          <time dateTime={created_at}>{fullTime(Date.parse(created_at))}</time>
        </span>
        {onDelete && <IconButton icon="trash" label={channelsTexts.value.deletePost} onClick={onDelete} />}
        {onReport && <IconButton icon="flag" label={texts.value.common.report} onClick={onReport} />}
      </header>
      <Markdown text={content} />
    </article>
  )
}
