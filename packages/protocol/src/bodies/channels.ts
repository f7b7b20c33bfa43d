// Bodies and replies of public channels.
import * as v from 'valibot'
import { cleanText } from '../clean-text.ts'
import { AliasId, ChannelId, Name, PostId, ReceivedName, Timestamp } from '../ids.ts'
import { Price } from './goods.ts'

/** The most characters of a channel's description. A relay may accept fewer, never more. */
export const DESCRIPTION_CHARACTERS = 1024
const DESCRIPTION_RULE = 'must be at most 1,024 characters'
const ChannelDescription = v.pipe(
  v.string(),
  v.description(DESCRIPTION_RULE),
  v.transform(cleanText),
  v.regex(new RegExp(`^\\P{Cs}{0,${DESCRIPTION_CHARACTERS}}$`, 'u'), DESCRIPTION_RULE),
)
/** An account's role in a channel. */
export const ChannelRole = v.picklist(['owner', 'subscriber'])

/** A channel as an account sees it. */
export const ChannelInfo = v.pipe(
  v.object({
    id: ChannelId,
    name: ReceivedName,
    description: ChannelDescription,
    role: v.exactOptional(ChannelRole),
    is_subscribed: v.exactOptional(v.boolean()),
    for_sale: v.exactOptional(v.boolean()),
    /** In stablecoin units; only present while the channel is for sale. */
    sale_price: v.exactOptional(Price),
  }),
  // A relay may be older or hostile, and cleaning may have left nothing of its name.
  v.transform((channel) => (channel.name === '' ? { ...channel, name: channel.id } : channel)),
)
/** See {@link ChannelInfo}. */
export type ChannelInfo = v.InferOutput<typeof ChannelInfo>

export const ChannelList = v.array(ChannelInfo)

/** The maximum length of a post's `content`, in bytes of UTF-8. A relay may accept less, never more. */
export const POST_BYTES = 65_536
const POST_RULE = `must be 1 to ${POST_BYTES} bytes of UTF-8`

/** The kind of post. The relay does not interpret it. */
export const PostType = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9_-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9, - and _'),
)
export const PostContent = v.pipe(
  v.string(),
  v.minLength(1, POST_RULE),
  v.maxBytes(POST_BYTES, POST_RULE),
  v.regex(
    /^(?:[^\p{Cc}\p{Cs}]|[\n\r\t])*$/u,
    'must contain no control characters except line breaks and tabs',
  ),
)

/** A post of a channel. */
export const ChannelPost = v.object({
  id: PostId,
  type: PostType,
  content: PostContent,
  created_at: Timestamp,
  author_alias_id: AliasId,
})
/** See {@link ChannelPost}. */
export type ChannelPost = v.InferOutput<typeof ChannelPost>

export const ChannelPostList = v.array(ChannelPost)

export const CreateChannelBody = v.object({
  name: Name,
  description: v.optional(ChannelDescription, ''),
  is_public: v.optional(v.boolean(), true),
})
export const CreateChannelReply = v.object({ channel_id: ChannelId })
export const PatchChannelBody = v.object({
  name: v.exactOptional(Name),
  description: v.exactOptional(ChannelDescription),
  is_public: v.exactOptional(v.boolean()),
})
export const CreatePostBody = v.object({ type: v.optional(PostType, 'text'), content: PostContent })
export const CreatePostReply = v.object({ post_id: PostId })
export const ListChannelBody = v.object({ channel_id: ChannelId, price_usdt: Price })

export const ChannelPath = v.object({ id: ChannelId })
export const ChannelPostPath = v.object({ id: ChannelId, post_id: PostId })

export const ChannelSearchQuery = v.object({
  q: v.optional(v.pipe(v.string(), v.maxLength(256, 'must be at most 256 characters')), ''),
})
const MOST_POSTS_IN_PAGE = 100
export const ChannelPostsQuery = v.object({
  /** Only posts older than this one. */
  before: v.exactOptional(PostId),
  /** A larger number counts as the most that a page has. */
  limit: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[1-9]\d*$/, 'must be an integer from 1'),
      v.transform((limit) => Math.min(Number(limit), MOST_POSTS_IN_PAGE)),
    ),
    '50',
  ),
})
