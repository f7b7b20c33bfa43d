// Limits of channels and posts.
import { DESCRIPTION_CHARACTERS, POST_BYTES } from '../bodies/channels.ts'
import { NAME_CHARACTERS } from '../ids.ts'
import { type Limit, MIB } from './limit.ts'

export const channelLimits = {
  channelNameCharacters: {
    default: NAME_CHARACTERS,
    min: 1,
    max: NAME_CHARACTERS,
    setting: 'LIMIT_CHANNEL_NAME_CHARACTERS',
    means: 'name of a channel; clients refuse longer ones',
  },
  channelDescriptionCharacters: {
    default: DESCRIPTION_CHARACTERS,
    min: 0,
    max: DESCRIPTION_CHARACTERS,
    setting: 'LIMIT_CHANNEL_DESCRIPTION_CHARACTERS',
    means: 'description of a channel; clients refuse longer ones',
  },
  channelSeats: {
    default: 3,
    min: 0,
    max: 100_000,
    setting: 'LIMIT_CHANNEL_SEATS',
    means: 'channels an account can have without buying seats',
  },
  subscriptions: {
    default: 1000,
    min: 1,
    max: 100_000,
    setting: 'LIMIT_SUBSCRIPTIONS',
    means: 'channels one account is subscribed to',
  },
  channelPosts: {
    default: 10_000,
    min: 10,
    max: 10_000_000,
    setting: 'LIMIT_CHANNEL_POSTS',
    means: 'posts kept per channel; new ones replace the oldest',
  },
  channelBytes: {
    default: 128 * MIB,
    min: MIB,
    max: 1024 * 1024 * MIB,
    setting: 'LIMIT_CHANNEL_BYTES',
    means: 'posts of all channels of one account, in UTF-8',
  },
  postBytes: {
    default: POST_BYTES,
    min: 256,
    max: POST_BYTES,
    setting: 'LIMIT_POST_BYTES',
    means: '`content` of one post, in UTF-8',
  },
} as const satisfies Record<string, Limit>
