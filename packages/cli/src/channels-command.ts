// sotto channels and sotto ids: what the operator does to channels and to ids that are held.
import type { ChannelDetail, ChannelLine } from '@sotto/relay'
import type { CommandGroup } from './command.ts'
import { changeAction, findAction, linesOr, showAction } from './moderation-actions.ts'
import { sanitizeLine } from './sanitize.ts'

const CHANNEL = { CHANNEL: 'channel_id' }
const COMMON = `  --reason TEXT    why, at most 500 characters
  --by NAME        who does it (default: your user name on this machine)
  --json           print JSON instead of text
  --data-dir D     the relay's data folder (default: DATA_DIR, otherwise ./data)

If no relay runs on this machine and DATABASE_URL is set, the command uses that database.
The exit code is 0, 1 if the relay refused, or 2 if the command was called wrongly.`

/** sotto channels */
export const channelsCommand: CommandGroup = {
  name: 'channels',
  summary: 'find, close and delete channels, or remove a post',
  help: `Usage: sotto channels find [TEXT] [--closed]
       sotto channels show CHANNEL
       sotto channels remove-post CHANNEL POST --reason TEXT
       sotto channels close CHANNEL --reason TEXT
       sotto channels open CHANNEL [--reason TEXT]
       sotto channels delete CHANNEL --reason TEXT

Works on the channels of the relay on this machine, like "sotto accounts".

  find             channels whose name contains TEXT or whose id it is, newest first, at most
                   50; all without TEXT
    --closed         only channels that are closed
  show             a channel, its owner and its ten newest posts
  remove-post      remove a post from the channel for everybody. Who has it on the screen
                   sees it until the channel is read again.
  close            take no more posts, changes and offers for sale; no search finds the
                   channel. Its owner reads the reason. Posts stay.
  open             open a closed channel again
  delete           delete a channel and its posts for good, as its owner can

${COMMON}`,
  actions: [
    findAction({
      command: 'channels.find',
      state: 'closed',
      said: linesOr('There are no such channels.', lineOf),
    }),
    showAction({ command: 'channels.show', words: CHANNEL, said: detailText }),
    changeAction({
      command: 'channels.remove-post',
      words: { ...CHANNEL, POST: 'post_id' },
      needsReason: true,
      said: ({ post_id }) => `${post_id} is removed.`,
    }),
    changeAction({
      command: 'channels.close',
      words: CHANNEL,
      needsReason: true,
      said: ({ channel_id }) => `${channel_id} is closed.`,
    }),
    changeAction({
      command: 'channels.open',
      words: CHANNEL,
      said: ({ channel_id }) => `${channel_id} is open.`,
    }),
    changeAction({
      command: 'channels.delete',
      words: CHANNEL,
      needsReason: true,
      said: ({ channel_id }) => `${channel_id} is deleted.`,
    }),
  ],
}

/** sotto ids */
export const idsCommand: CommandGroup = {
  name: 'ids',
  summary: 'free a custom id that an unpaid order holds',
  help: `Usage: sotto ids free ID [--reason TEXT]

Ends the unpaid order that holds a custom id, so that others can order it. What was paid for the
order in part is recorded to be given back. An id that an account has or had, or that is paid
for, is not freed.

${COMMON}`,
  actions: [
    changeAction({
      command: 'ids.free',
      words: { ID: 'alias_id' },
      said: ({ alias_id }) => `${alias_id} is free.`,
    }),
  ],
}

function lineOf({ channel_id, owner, name, subscribers, closed_for }: ChannelLine): string {
  const state = closed_for === null ? '' : `  closed: ${sanitizeLine(closed_for, 100)}`
  return `${channel_id}  ${owner}  ${subscribers} subscribers  ${sanitizeLine(name, 64)}${state}`
}

function detailText(channel: ChannelDetail): string {
  const { description, posts, post_bytes, newest, created_at, is_public } = channel
  const lines = newest.map(
    ({ id, created_at: postedAt, content }) => `${id}  ${postedAt}  ${sanitizeLine(content, 200)}`,
  )
  return [
    lineOf(channel),
    `since ${created_at}, ${is_public ? 'public' : 'not public'}, ${posts} posts of ${post_bytes} bytes`,
    ...(description === '' ? [] : [sanitizeLine(description, 600)]),
    ...lines,
  ].join('\n')
}
