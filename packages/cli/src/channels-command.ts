// sotto channels and sotto ids: what the operator does to channels and to ids that are held.
import type { ChannelDetail, ChannelLine } from '@sotto/relay'
import type { CommandGroup } from './command.ts'
import {
  at,
  changeFlags,
  commonFlags,
  print,
  reasonIfGiven,
  reasonOf,
  tell,
  whoOf,
} from './moderation-flags.ts'
import { sanitizeLine } from './sanitize.ts'

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
    {
      name: 'find',
      optionalWords: ['TEXT'],
      options: { ...commonFlags, closed: { type: 'boolean' } },
      run: async (flags, [text]) => {
        const filter = { ...(text ? { text } : {}), closed: flags.closed === true }
        const channels = await tell((relay) => relay.tellRelay(at(flags), 'channels.find', filter))
        const lines = channels.length === 0 ? ['There are no such channels.'] : channels.map(lineOf)
        return print(flags, channels, lines.join('\n'))
      },
    },
    {
      name: 'show',
      words: ['CHANNEL'],
      options: commonFlags,
      run: async (flags, [channel_id]) => {
        const detail = await tell((relay) => relay.tellRelay(at(flags), 'channels.show', { channel_id }))
        return print(flags, detail, detailText(detail))
      },
    },
    {
      name: 'remove-post',
      words: ['CHANNEL', 'POST'],
      options: changeFlags,
      run: async (flags, [channel_id, post_id]) => {
        const input = { channel_id, post_id, ...whoOf(flags), ...reasonOf(flags) }
        const removed = await tell((relay) => relay.tellRelay(at(flags), 'channels.remove-post', input))
        return print(flags, removed, `${removed.post_id} is removed.`)
      },
    },
    {
      name: 'close',
      words: ['CHANNEL'],
      options: changeFlags,
      run: async (flags, [channel_id]) => {
        const input = { channel_id, ...whoOf(flags), ...reasonOf(flags) }
        const closed = await tell((relay) => relay.tellRelay(at(flags), 'channels.close', input))
        return print(flags, closed, `${closed.channel_id} is closed.`)
      },
    },
    {
      name: 'open',
      words: ['CHANNEL'],
      options: changeFlags,
      run: async (flags, [channel_id]) => {
        const input = { channel_id, ...whoOf(flags), ...reasonIfGiven(flags) }
        const opened = await tell((relay) => relay.tellRelay(at(flags), 'channels.open', input))
        return print(flags, opened, `${opened.channel_id} is open.`)
      },
    },
    {
      name: 'delete',
      words: ['CHANNEL'],
      options: changeFlags,
      run: async (flags, [channel_id]) => {
        const input = { channel_id, ...whoOf(flags), ...reasonOf(flags) }
        const deleted = await tell((relay) => relay.tellRelay(at(flags), 'channels.delete', input))
        return print(flags, deleted, `${deleted.channel_id} is deleted.`)
      },
    },
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
    {
      name: 'free',
      words: ['ID'],
      options: changeFlags,
      run: async (flags, [alias_id]) => {
        const input = { alias_id, ...whoOf(flags), ...reasonIfGiven(flags) }
        const freed = await tell((relay) => relay.tellRelay(at(flags), 'ids.free', input))
        return print(flags, freed, `${freed.alias_id} is free.`)
      },
    },
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
