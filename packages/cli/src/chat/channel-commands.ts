// The commands for channels, which are public.
import type { ChannelInfo } from '@sotto/client'
import { cut, sanitizeLine } from '../sanitize.ts'
import type { Chat } from './chat.ts'
import type { CommandGroup } from './command-row.ts'
import { namesFrom } from './completion.ts'
import { inWords } from './explain.ts'

const POSTS = 10

/** The commands for channels. */
export const channelCommands: CommandGroup = {
  title: 'Channels (public; by name or number of /channels)',
  rows: [
    { name: 'channels', takes: '[words]', summary: 'list yours, or search for words', run: list },
    {
      name: 'subscribe',
      takes: '<channel>',
      summary: 'see its new posts here',
      run: subscribe,
      complete: completeChannel,
    },
    {
      name: 'unsubscribe',
      takes: '<channel>',
      summary: 'undo /subscribe',
      run: unsubscribe,
      complete: completeChannel,
    },
    {
      name: 'read',
      takes: '<channel>',
      summary: `show its last ${POSTS} posts`,
      run: read,
      complete: completeChannel,
    },
    { name: 'post', takes: '<channel> <text>', summary: 'post in a channel of yours', run: post },
    { name: 'newchannel', takes: '<name>', summary: 'create a channel', run: create },
  ],
}

async function list(chat: Chat, words: string): Promise<void> {
  const channels = await chat.channelBoard.list(words)
  if (channels.length === 0)
    chat.terminal.print(
      words === ''
        ? 'You have no channels yet. /channels <words> searches, /newchannel <name> creates one.'
        : `No channel has these words: ${sanitizeLine(words)}.`,
    )
  for (const [at, channel] of channels.entries()) {
    const sale = channel.for_sale ? `for sale, ${channel.sale_price} USDT` : ''
    const notes = [roleOf(channel), sale].filter((note) => note !== '').join(', ')
    const name = `${String(at + 1).padStart(3)}  ${sanitizeLine(channel.name)}${notes === '' ? '' : `  (${notes})`}`
    const about = sanitizeLine(channel.description, 200)
    chat.terminal.print(about === '' ? name : cut(`${name}  ${about}`, chat.terminal.columns))
  }
}

function roleOf(channel: ChannelInfo): string {
  if (channel.role === 'owner') return 'yours'
  return channel.is_subscribed ? 'subscribed' : ''
}

async function subscribe(chat: Chat, argument: string): Promise<void> {
  const { id, name } = await chooseChannel(chat, argument)
  await chat.channelBoard.channels.subscribe(id)
  chat.terminal.print(`• You see new posts of ${sanitizeLine(name)} here from now on.`)
}

async function unsubscribe(chat: Chat, argument: string): Promise<void> {
  const { id, name } = await chooseChannel(chat, argument)
  await chat.channelBoard.channels.unsubscribe(id)
  chat.terminal.print(`• You see no more posts of ${sanitizeLine(name)}.`)
}

async function read(chat: Chat, argument: string): Promise<void> {
  const { id, name } = await chooseChannel(chat, argument)
  const posts = await chat.channelBoard.channels.posts(id, { limit: POSTS })
  if (posts.length === 0) chat.terminal.print(`${sanitizeLine(name)} has no posts yet.`)
  for (const each of posts.toReversed())
    chat.terminal.print(chat.channelBoard.postLine(id, sanitizeLine(name), each))
}

async function post(chat: Chat, argument: string): Promise<void> {
  const { channel, rest: text } = await splitChannel(chat, argument)
  if (text === '') return chat.terminal.print('Usage: /post <channel> <text>')
  const { id, name } = await chooseChannel(chat, channel)
  await inWords({ STORAGE_FULL: 'Your space for posts at this relay is full.' }, () =>
    chat.channelBoard.channels.post(id, text),
  )
  chat.terminal.print(`• Posted in ${sanitizeLine(name)}.`)
}

/** A channel and what follows. A name may have spaces, so the longest name that fits counts. */
export async function splitChannel(
  chat: Chat,
  argument: string,
): Promise<{ readonly channel: string; readonly rest: string }> {
  const { channelBoard } = chat
  const listed = channelBoard.listed.length > 0 ? channelBoard.listed : await channelBoard.list('')
  const names = listed.map((channel) => sanitizeLine(channel.name))
  const fitting = names.filter((name) => argument.toLowerCase().startsWith(`${name.toLowerCase()} `))
  const [word = ''] = /^\S+/.exec(argument) ?? []
  const channel = fitting.sort((a, b) => b.length - a.length)[0] ?? word
  return { channel, rest: argument.slice(channel.length).trim() }
}

async function create(chat: Chat, name: string): Promise<void> {
  const id = await chat.channelBoard.channels.create({ name })
  await chat.channelBoard.list('')
  chat.terminal.print(`• Created ${sanitizeLine(name)} (${id}). Everybody can find and read it.`)
}

/** The channel that a text names. @throws Notice if there is none, or more than one */
export async function chooseChannel(chat: Chat, argument: string): Promise<ChannelInfo> {
  const gone = { NOT_FOUND: 'This channel does not exist, or not any more.' }
  return await inWords(gone, () => chat.channelBoard.choose(argument))
}

/** Completes the name of a listed channel. */
export async function completeChannel(chat: Chat, typed: string): Promise<readonly string[]> {
  const names = chat.channelBoard.listed.map((channel) => sanitizeLine(channel.name))
  return namesFrom(names, typed)
}
