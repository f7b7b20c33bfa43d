// Which posts of a channel are shown: pages from the relay and new posts as they come, the newest first.
import type { ChannelPost } from '@sotto/client'

/** As many posts come from the relay at once. */
export const PAGE_POSTS = 20

interface Identified {
  readonly id: string
}

/** What is known of a channel's posts. */
export interface Posts<P extends Identified = ChannelPost> {
  /** The newest first, without a gap. */
  readonly list: readonly P[]
  /** Whether the relay may have older ones. */
  readonly hasOlder: boolean
}

/**
 * Adds the newest page to what is known. If they have no post in common there may be more between them: what
 * was known is then left out, and read again when the user goes back that far.
 */
export function withNewest<P extends Identified>(known: Posts<P> | undefined, page: readonly P[]): Posts<P> {
  const fromRelay = { list: page, hasOlder: page.length >= PAGE_POSTS }
  const oldest = page.at(-1)
  if (!known || !oldest || !fromRelay.hasOlder) return fromRelay
  const at = known.list.findIndex(({ id }) => id === oldest.id)
  return at < 0 ? fromRelay : { list: [...page, ...known.list.slice(at + 1)], hasOlder: known.hasOlder }
}

/** Adds a page of older posts. */
export function withOlder<P extends Identified>(known: Posts<P>, page: readonly P[]): Posts<P> {
  const ids = new Set(known.list.map(({ id }) => id))
  return {
    list: [...known.list, ...page.filter(({ id }) => !ids.has(id))],
    hasOlder: page.length >= PAGE_POSTS,
  }
}

/** Adds a post that was made just now. */
export function withPost<P extends Identified>(known: Posts<P>, post: P): Posts<P> {
  const others = known.list.filter(({ id }) => id !== post.id)
  return { ...known, list: [post, ...others] }
}

/** Leaves a post out. */
export function withoutPost<P extends Identified>(known: Posts<P>, postId: string): Posts<P> {
  return { ...known, list: known.list.filter(({ id }) => id !== postId) }
}

/** Where a long text is cut: after the last paragraph or line that fits, and never within a character. */
export function cutText(text: string, length: number): readonly [shown: string, rest: string] {
  if (text.length <= length) return [text, '']
  const fitting = text.slice(0, length)
  const paragraph = fitting.lastIndexOf('\n\n')
  const line = fitting.lastIndexOf('\n')
  const half = length / 2
  const space = fitting.lastIndexOf(' ')
  const at =
    [paragraph, line, space].find((each) => each > half) ??
    (/[\uD800-\uDBFF]$/.test(fitting) ? length - 1 : length)
  return [text.slice(0, at), text.slice(at)]
}
