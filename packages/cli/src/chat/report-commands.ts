// The commands that report somebody or something to the operator of the relay.
import { Reports } from '@sotto/client'
import { sanitizeLine } from '../sanitize.ts'
import { chooseChannel, completeChannel, splitChannel } from './channel-commands.ts'
import type { Chat } from './chat.ts'
import type { CommandGroup } from './command-row.ts'
import { inWords, Notice } from './explain.ts'
import { anybody, askWhich, completePerson, everybody, nobodyCalled, type Person, who } from './people.ts'
import { describe } from './transcript.ts'

const PERSON = '<who> [#n …] <why>'
const CHANNEL = '<channel> <why>'
const POST = '<n> <why>'

/** The commands for reports. */
export const reportCommands: CommandGroup = {
  title: 'Reports (to the operator of the relay; nobody else is told)',
  rows: [
    {
      name: 'report',
      takes: PERSON,
      summary: 'report someone; shows messages #n, or none',
      run: reportPerson,
      complete: completePerson,
    },
    {
      name: 'reportchannel',
      takes: CHANNEL,
      summary: 'report a channel',
      run: reportChannel,
      complete: completeChannel,
    },
    { name: 'reportpost', takes: POST, summary: 'report post ▪n', run: reportPost },
  ],
}

async function reportPerson(chat: Chat, argument: string): Promise<void> {
  const named = await splitPerson(chat, argument)
  if (!named) return
  const { person, rest } = named
  const [, marks = '', reason = ''] = /^((?:#\d+(?:\s+|$))*)(.*)$/s.exec(rest) ?? []
  const numbers = marks.split(/\s+/).filter((mark) => mark !== '')
  if (reason === '') return explainUsage(chat, `/report ${PERSON}`)
  const content = await textsOf(chat, person, numbers)
  const words = content === '' ? { reason } : { reason, content }
  const reports = new Reports(chat.client)
  await inWords({ NOT_FOUND: nobodyCalled(person.name) }, () =>
    isRequestOf(chat, person)
      ? reports.friendRequest(person.aliasId, words)
      : reports.account(person.aliasId, words),
  )
  const shown = numbers.length === 0 ? 'No message was attached' : `Attached: ${numbers.join(' ')}`
  sayReported(chat, who(person), shown)
}

async function reportChannel(chat: Chat, argument: string): Promise<void> {
  const { channel, rest: reason } = await splitChannel(chat, argument)
  if (reason === '') return explainUsage(chat, `/reportchannel ${CHANNEL}`)
  const { id, name } = await chooseChannel(chat, channel)
  await new Reports(chat.client).channel(id, { reason })
  sayReported(chat, `the channel ${sanitizeLine(name)} (${id})`)
}

async function reportPost(chat: Chat, argument: string): Promise<void> {
  const [, number = '', reason = ''] = /^▪?(\d+)\s+(.+)$/s.exec(argument) ?? []
  if (reason === '') return explainUsage(chat, `/reportpost ${POST}; n is the number after ▪`)
  const post = chat.channelBoard.shownPost(Number(number))
  if (!post) return chat.terminal.print(`There is no post ▪${number}; /read shows posts.`)
  await inWords({ NOT_FOUND: 'This post does not exist any more.' }, () =>
    new Reports(chat.client).post(post.channelId, post.postId, { reason }),
  )
  sayReported(chat, `post ▪${number}`)
}

function explainUsage(chat: Chat, usage: string): void {
  chat.terminal.print(
    `Usage: ${usage}\nThe operator of the relay reads your words and your alias. Nobody else is told, also not who is reported. A message is attached only if you give its number.`,
  )
}

function sayReported(chat: Chat, what: string, shown?: string): void {
  chat.terminal.print(
    `• Reported ${what} to the operator of ${chat.relayName}, who sees your alias. Nobody else is told.${shown === undefined ? '' : ` ${shown}.`} Reporting again replaces this report.`,
  )
}

/** The person at the beginning of a text, whose name may have spaces. Says so if it may be several. */
async function splitPerson(
  chat: Chat,
  argument: string,
): Promise<{ readonly person: Person; readonly rest: string } | undefined> {
  const people = await everybody(chat)
  const begins = (name: string): boolean => `${argument} `.toLowerCase().startsWith(`${name.toLowerCase()} `)
  const byAlias = people.filter(({ aliasId }) => begins(aliasId))
  const [first, another] = byAlias.length > 0 ? byAlias : people.filter(({ name }) => name && begins(name))
  // A name must not be able to catch the reports about somebody whose name it begins with.
  if (first && another) return askWhich(chat, [first, another])
  const [word = ''] = /^\S+/.exec(argument) ?? []
  const named = byAlias.length > 0 || !first ? word : first.name
  const person = first ?? (await anybody(chat, word))
  return person && { person, rest: argument.slice(named.length).trim() }
}

/** Whether this person's friend request is what there is to report. */
function isRequestOf(chat: Chat, { aliasId }: Person): boolean {
  return chat.client
    .friends()
    .some((each) => each.alias_id === aliasId && each.direction === 'received' && each.status !== 'accepted')
}

/** These messages, as the operator reads them. @throws Notice if one is not with this person */
async function textsOf(chat: Chat, person: Person, numbers: readonly string[]): Promise<string> {
  const lines: string[] = []
  for (const number of numbers) {
    const target = chat.numbered(number)
    if (!target || target.conversationId !== person.conversationId)
      throw new Notice(`${number} is no message between you and ${who(person)}. Nothing was reported.`)
    const messages = await chat.client.messages(target.conversationId)
    const message = messages.find(({ id, isMe }) => id === target.id && isMe === target.isMe)
    if (!message || message.retracted)
      throw new Notice(`${number} was taken back or deleted. Nothing was reported.`)
    const author = message.isMe ? chat.client.identity?.aliasId : message.fromAliasId
    lines.push(`${new Date(message.time).toISOString()} ${author}: ${describe(message)}`)
  }
  return lines.join('\n')
}
