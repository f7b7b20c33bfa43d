// The commands for messages.
import { Edits, isEditable, Reactions, UnsentMessages } from '@sotto/client'
import { sanitizeLine } from '../sanitize.ts'
import type { Chat } from './chat.ts'
import type { CommandGroup } from './command-row.ts'
import type { Numbered } from './shown-messages.ts'

/** The commands for messages. */
export const messageCommands: CommandGroup = {
  title: 'Messages (a line without / is sent; // begins one with a slash)',
  rows: [
    { name: 'reply', takes: '<n> <text>', summary: 'answer message #n', run: reply },
    { name: 'edit', takes: '<n> <text>', summary: 'give your message #n another text', run: edit },
    { name: 'react', takes: '<n> [emoji]', summary: 'react to message #n, or take that back', run: react },
    { name: 'retract', takes: '[n]', summary: 'take back your last message, or #n', run: retract },
    { name: 'resend', takes: '[n]', summary: 'send a refused message again', run: resend },
    { name: 'drop', takes: '[n]', summary: 'forget a refused or unsent message', run: drop },
    { name: 'history', takes: '[count]', summary: 'show earlier messages', run: history },
    { name: 'clear', takes: '', summary: 'erase this screen and what has scrolled away', run: clear },
  ],
}

async function reply(chat: Chat, argument: string): Promise<void> {
  const [, number = '', text = ''] = /^(#?\d+)\s+(.+)$/s.exec(argument) ?? []
  const target = chat.numbered(number)
  if (!target || target.conversationId !== chat.openId)
    chat.terminal.print('Usage: /reply <n> <text>; n is the number of a message in this conversation')
  else await chat.send(text, target.id)
}

async function edit(chat: Chat, argument: string): Promise<void> {
  const [, number = '', text = ''] = /^(#?\d+)\s+(.+)$/s.exec(argument) ?? []
  const target = chat.numbered(number)
  if (!target) chat.terminal.print('Usage: /edit <n> <text>; n is the number of a message')
  else if (!target.isMe) chat.terminal.print('Only your own messages can be edited.')
  else {
    const message = await ofForwardSecrecy(chat, target)
    if (!message) return
    if (isEditable(message, Date.now()))
      await new Edits(chat.client).edit(target.conversationId, target.id, text)
    else chat.terminal.print('Only a text can be edited, and only for a day.')
  }
}

async function react(chat: Chat, argument: string): Promise<void> {
  const [, number = '', emoji] = /^(#?\d+)(?:\s+(\S+))?$/.exec(argument) ?? []
  const target = chat.numbered(number)
  if (!target) {
    chat.terminal.print('Usage: /react <n> [emoji]; n is the number of a message')
    return
  }
  if (!(await ofForwardSecrecy(chat, target))) return
  const reactions = new Reactions(chat.client)
  if (emoji === undefined) await reactions.takeBack(target)
  else await reactions.react(target, emoji)
}

/** The message, if it has forward secrecy, without which nothing of it can be changed. Says so if not. */
async function ofForwardSecrecy(chat: Chat, { conversationId, isMe, id }: Numbered) {
  const messages = await chat.client.messages(conversationId)
  const message = messages.find((each) => each.isMe === isMe && each.id === id)
  if (message?.version === 3) return message
  chat.terminal.print('Only messages with forward secrecy can be changed: see /secrecy.')
  return undefined
}

async function retract(chat: Chat, argument: string): Promise<void> {
  if (argument === '') {
    const last = await chat.lastOwn()
    if (!last) chat.terminal.print('You have no message to take back here.')
    else await chat.client.retract(last.conversationId, last.id)
    return
  }
  const target = chat.numbered(argument)
  if (!target) chat.terminal.print(`There is no message ${sanitizeLine(argument)}.`)
  else if (!target.isMe) chat.terminal.print('Only your own messages can be taken back.')
  else await chat.client.retract(target.conversationId, target.id)
}

async function resend(chat: Chat, argument: string): Promise<void> {
  const target = await unsent(chat, argument)
  if (target) await chat.show(await new UnsentMessages(chat.client).resend(target.conversationId, target.id))
}

async function drop(chat: Chat, argument: string): Promise<void> {
  const target = await unsent(chat, argument)
  if (!target) return
  await new UnsentMessages(chat.client).drop(target.conversationId, target.id)
  chat.terminal.print('• The message is forgotten here.')
}

/** The message with a number, or the last refused one of the open conversation. Says so if there is none. */
async function unsent(chat: Chat, argument: string): Promise<Numbered | undefined> {
  if (!chat.isOpen()) return undefined
  const messages = await chat.client.messages(chat.openId)
  const target =
    argument === '' ? messages.findLast((each) => each.status === 'failed') : chat.numbered(argument)
  if (target?.isMe) return target
  chat.terminal.print(argument === '' ? 'No message was refused here.' : 'That is no message of yours.')
  return undefined
}

async function history(chat: Chat, argument: string): Promise<void> {
  if (!chat.isOpen()) return
  const count = Number(argument === '' ? 50 : argument)
  if (Number.isInteger(count) && count > 0) await chat.showHistory(count)
  else chat.terminal.print('Usage: /history [count]')
}

async function clear(chat: Chat): Promise<void> {
  chat.terminal.clear()
}
