// The commands for files.
import { stat } from 'node:fs/promises'
import { basename, relative } from 'node:path'
import { contentOf, Media, type StoredMessage } from '@sotto/client'
import { intoFile } from '@sotto/client/into-file'
import { sanitizeLine } from '../sanitize.ts'
import type { Chat } from './chat.ts'
import type { CommandGroup } from './command-row.ts'
import { filesFrom, pathOf } from './completion.ts'
import { Notice } from './explain.ts'
import { harmlessName, saveAs } from './received-file.ts'
import { sizeText } from './transfers.ts'

/** The commands for files. */
export const fileCommands: CommandGroup = {
  title: 'Files, images and voice messages',
  rows: [
    {
      name: 'send',
      takes: '<file>',
      summary: 'send a file; with words behind "<file>"',
      run: send,
      complete: completeSend,
    },
    {
      name: 'save',
      takes: '[n] [folder]',
      summary: 'save the last file, or #n, here or in a folder',
      run: save,
      complete: completeSave,
    },
  ],
}

async function send(chat: Chat, argument: string): Promise<void> {
  if (!chat.isOpen()) return
  const contact = chat.openId
  // Without quotes all of it is the file, so that names with spaces need none.
  const [, quoted, words = ''] = /^"([^"]+)"\s*(.*)$/s.exec(argument) ?? []
  const typed = quoted ?? argument
  const path = pathOf(typed)
  const found = await stat(path).catch(() => undefined)
  const shown = sanitizeLine(typed, 100)
  if (!found) throw new Notice(`There is no file ${shown}.`)
  if (!found.isFile()) throw new Notice(`${shown} is not a file.`)
  const name = basename(path)
  chat.transfers.begin(`sending ${sanitizeLine(name)}`, async (options) => {
    const id = crypto.randomUUID()
    const media = new Media(chat.client)
    const message = await media.sendFile(contact, Bun.file(path), { id, name, words, ...options })
    const messages = words === '' || message.words ? [] : await chat.client.messages(contact)
    // Without forward secrecy the words went before it.
    const before = messages.find((each) => each.isMe && each.id === `${id}-words`)
    if (before) await chat.show(before)
    await chat.show(message)
  })
}

async function save(chat: Chat, argument: string): Promise<void> {
  if (!chat.isOpen()) return
  const [, number, typed = ''] = /^(?:(#?\d+)(?:\s+|$))?(.*)$/s.exec(argument) ?? []
  const message = number === undefined ? await lastMedia(chat) : await mediaOf(chat, number)
  const content = contentOf(message)
  if (!content || content.kind === 'text') throw new Notice('This message has no file.')
  const folder = typed === '' ? '.' : pathOf(typed)
  const found = await stat(folder).catch(() => undefined)
  if (!found?.isDirectory()) throw new Notice(`There is no folder ${sanitizeLine(typed, 100)}.`)
  const name = harmlessName(content.kind === 'file' ? content.name : content.kind)
  chat.transfers.begin(`saving ${name}`, async (options) => {
    const contact = message.conversationId
    let sizeBytes = 0
    const path = await saveAs(folder, name, async (into) => {
      await new Media(chat.client).downloadInto(contact, content, { into: intoFile(into), ...options })
      sizeBytes = (await stat(into)).size
    })
    const shown = typed === '' ? `./${relative('.', path)}` : path
    chat.terminal.print(`• Saved ${sanitizeLine(shown, 300)} (${sizeText(sizeBytes)}).`)
  })
}

async function lastMedia(chat: Chat & { readonly openId: string }): Promise<StoredMessage> {
  const last = (await chat.client.messages(chat.openId)).findLast((each) => !each.isMe && hasMedia(each))
  if (!last) throw new Notice('There is no file in this conversation.')
  return last
}

async function mediaOf(chat: Chat, number: string): Promise<StoredMessage> {
  const target = chat.numbered(number)
  const messages = target ? await chat.client.messages(target.conversationId) : []
  const message = messages.find((each) => each.id === target?.id && each.isMe === target.isMe)
  if (!message) throw new Notice(`There is no message ${sanitizeLine(number)}.`)
  return message
}

function hasMedia(message: StoredMessage): boolean {
  const content = contentOf(message)
  return content !== undefined && content.kind !== 'text'
}

async function completeSend(_: Chat, typed: string): Promise<readonly string[]> {
  if (!typed.startsWith('"')) return filesFrom(typed)
  return (await filesFrom(typed.slice(1))).map((choice) => `"${choice}`)
}

async function completeSave(_: Chat, typed: string): Promise<readonly string[]> {
  const [, number = '', folder] = /^(#?\d+\s+)?(.*)$/s.exec(typed) ?? []
  const choices = await filesFrom(folder ?? '')
  return choices.filter((choice) => choice.endsWith('/')).map((choice) => `${number}${choice}`)
}
