// The commands for the forward secrecy of a conversation.
import { SecrecyChoices } from '@sotto/client'
import type { Chat } from './chat.ts'
import type { CommandGroup } from './command-row.ts'
import { choose, completePerson, everybody } from './people.ts'
import { tellStop } from './secrecy.ts'

/** The commands for forward secrecy. */
export const secrecyCommands: CommandGroup = {
  title: 'Forward secrecy (of the open conversation, or of <who>)',
  rows: [
    {
      name: 'secrecy',
      takes: '[who]',
      summary: 'show whether messages have it',
      run: secrecy,
      complete: completePerson,
    },
    {
      name: 'rejoin',
      takes: '[who]',
      summary: 'bring the conversation back to this device',
      run: rejoin,
      complete: completePerson,
    },
    {
      name: 'allowrejoin',
      takes: '[who]',
      summary: 'go on with a friend who changed keys too often',
      run: allowRejoin,
      complete: completePerson,
    },
    {
      name: 'allowolder',
      takes: '[who]',
      summary: 'go on without it if their app lacks it now',
      run: allowOlder,
      complete: completePerson,
    },
  ],
}

async function secrecy(chat: Chat, argument: string): Promise<void> {
  const conversationId = await conversationOf(chat, argument)
  if (conversationId === undefined) return
  const name = chat.name(conversationId)
  const { hasForwardSecrecy } = await chat.client.conversation(conversationId)
  if (!hasForwardSecrecy) {
    chat.terminal.print(`Messages with ${name} have no forward secrecy: one key opens all of them, also
recorded ones, and your recovery phrase gives it. ${name}’s client has not said that
it can do more. Once it does, this changes by itself.`)
    return
  }
  chat.terminal.print(`Messages with ${name} have forward secrecy: each has a key of its own, which is deleted
once it was used. Who gets your recovery phrase later cannot open recorded messages.
Earlier messages without it, and their files, are under the conversation’s one key.`)
  await tellStop(chat, conversationId)
}

async function rejoin(chat: Chat, argument: string): Promise<void> {
  const conversationId = await conversationOf(chat, argument)
  if (conversationId === undefined) return
  const choices = new SecrecyChoices(chat.client)
  const name = chat.name(conversationId)
  const stop = await choices.stopOf(conversationId)
  if (stop === 'displaced' || stop === 'own_rejoins') {
    await choices.useThisDevice(conversationId)
    chat.terminal.print(`• The conversation with ${name} comes back to this device.`)
  } else chat.terminal.print(`This device has the conversation with ${name}. Nothing is to be done.`)
}

async function allowRejoin(chat: Chat, argument: string): Promise<void> {
  const conversationId = await conversationOf(chat, argument)
  if (conversationId === undefined) return
  const choices = new SecrecyChoices(chat.client)
  const name = chat.name(conversationId)
  if ((await choices.stopOf(conversationId)) === 'peer_rejoins') {
    await choices.allowRejoins(conversationId)
    chat.terminal.print(`• ${name} may join again.`)
  } else chat.terminal.print(`${name} has not joined again too often. Nothing is to be done.`)
}

async function allowOlder(chat: Chat, argument: string): Promise<void> {
  const conversationId = await conversationOf(chat, argument)
  if (conversationId === undefined) return
  const name = chat.name(conversationId)
  const { hasForwardSecrecy } = await chat.client.conversation(conversationId)
  if (!hasForwardSecrecy) {
    chat.terminal.print(`Messages with ${name} have no forward secrecy. Nothing is to be done.`)
    return
  }
  // The notice that follows says what it means.
  await new SecrecyChoices(chat.client).allowOlderVersion(conversationId)
}

/** The conversation with a person, or the open one. Says so if there is none. */
async function conversationOf(chat: Chat, argument: string): Promise<string | undefined> {
  if (argument === '') return chat.isOpen() ? chat.openId : undefined
  const people = (await everybody(chat)).filter((each) => each.conversationId !== undefined)
  return choose(chat, people, argument, '/friends lists your friends')?.conversationId
}
