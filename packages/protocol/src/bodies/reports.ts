// The body of a report to the relay's operator.
import * as v from 'valibot'
import { cleanText } from '../clean-text.ts'
import { AliasId, ChannelId, PostId } from '../ids.ts'

const REASON_RULE = 'must be at most 1,000 characters'
const CONTENT_RULE = 'must be at most 8,192 characters'

/** A report about an account, a friend request of one, a channel, or a post in one. */
export const ReportBody = v.object({
  about: v.picklist(['account', 'friend_request', 'channel', 'post']),
  /** The account, or the sender of the friend request. */
  alias_id: v.optional(AliasId),
  /** The channel, also that of a post. */
  channel_id: v.optional(ChannelId),
  post_id: v.optional(PostId),
  /** The reporter's words. */
  reason: v.pipe(
    v.string(),
    v.description(REASON_RULE),
    v.transform(cleanText),
    v.regex(/^\P{Cs}{0,1000}$/u, REASON_RULE),
  ),
  /** What the reporter shows the operator, such as a message. The relay cannot check that it is true. */
  content: v.optional(
    v.pipe(
      v.string(),
      v.description(CONTENT_RULE),
      v.transform(cleanText),
      v.regex(/^\P{Cs}{0,8192}$/u, CONTENT_RULE),
    ),
  ),
})
/** See {@link ReportBody}. */
export type ReportBody = v.InferOutput<typeof ReportBody>
