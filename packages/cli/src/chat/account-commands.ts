// The commands for one's own account, for verifying a friend, and for the chat itself.
import { Profiles } from '@sotto/client'
import { sanitizeLine } from '../sanitize.ts'
import type { Chat } from './chat.ts'
import type { CommandGroup } from './command-row.ts'
import { qrOf } from './qr.ts'
import { secrecyWord } from './secrecy-words.ts'
import { clockTime } from './transcript.ts'

/** The commands that make sure who the friend of the open conversation is. */
export const trustCommands: CommandGroup = {
  title: 'Who it is (in the open conversation)',
  rows: [
    { name: 'code', takes: '', summary: 'show the security code, also as a QR code', run: code },
    { name: 'verify', takes: '<code>', summary: 'check the code your friend reads out to you', run: verify },
    { name: 'trust', takes: '', summary: 'mark your friend as verified', run: trust },
    { name: 'untrust', takes: '', summary: 'undo /trust', run: untrust },
  ],
}

/** The commands for one's own account. */
export const accountCommands: CommandGroup = {
  title: 'You',
  rows: [
    { name: 'me', takes: '', summary: 'show your nickname and alias', run: me },
    { name: 'qr', takes: '', summary: 'show your alias as a QR code', run: qr },
    { name: 'nick', takes: '<name>', summary: 'change your nickname', run: nick },
    {
      name: 'profile',
      takes: '[name|none]',
      summary: 'show or set your name for contacts only',
      run: profile,
    },
    { name: 'connect', takes: '', summary: 'reconnect after another device took over', run: connect },
  ],
}

async function code(chat: Chat): Promise<void> {
  if (!chat.isOpen()) return
  const { displayCode } = chat.client.securityCode(chat.openId)
  const groups = displayCode.split(' ')
  const rows = [0, 5, 10].map((at) => `    ${groups.slice(at, at + 5).join(' ')}`)
  const trusted = await chat.client.trustState(chat.openId)
  const { hasForwardSecrecy } = await chat.client.conversation(chat.openId)
  const state = trusted.status === 'verified' ? `verified ${clockTime(trusted.verifiedAt)}` : 'not verified'
  chat.terminal.print(`Your security code with ${chat.name(chat.openId)} (${state}, ${secrecyWord(hasForwardSecrecy)}):

${qrOf(displayCode.replaceAll(' ', ''), chat.hasColour)}

${rows.join('\n')}

If your friend sees the same code, nobody is intercepting your messages.
Compare it in person or on a call, or let a phone read the QR codes on both
screens. Then use /verify <their code> or /trust.`)
}

async function verify(chat: Chat, argument: string): Promise<void> {
  if (!chat.isOpen()) return
  const isSame = await chat.client.verifySecurityCode(chat.openId, argument)
  chat.terminal.print(
    isSame
      ? `• The codes are the same: ${chat.name(chat.openId)} is verified.`
      : '! The codes differ. Check for a typing error. If there is none, somebody may be intercepting your messages.',
  )
}

async function trust(chat: Chat): Promise<void> {
  if (!chat.isOpen()) return
  await chat.client.markVerified(chat.openId)
  chat.terminal.print(`• ${chat.name(chat.openId)} is verified, on your word.`)
}

async function untrust(chat: Chat): Promise<void> {
  if (!chat.isOpen()) return
  await chat.client.resetTrust(chat.openId)
  chat.terminal.print(`• ${chat.name(chat.openId)} is no longer verified.`)
}

async function me(chat: Chat): Promise<void> {
  const { aliasId, nickname } = chat.client.identity ?? {}
  chat.terminal.print(
    `You are ${sanitizeLine(nickname ?? '')}. Your alias is ${aliasId}: friends add you with /add ${aliasId}. Relay: ${chat.relayName}.`,
  )
}

async function qr(chat: Chat): Promise<void> {
  const aliasId = chat.client.identity?.aliasId ?? ''
  chat.terminal.print(`${qrOf(aliasId, chat.hasColour)}\n${aliasId}`)
}

async function nick(chat: Chat, argument: string): Promise<void> {
  await chat.client.setNickname(argument)
  chat.terminal.print(`• You are ${sanitizeLine(chat.client.identity?.nickname ?? '')} now.`)
}

async function profile(chat: Chat, argument: string): Promise<void> {
  const profiles = new Profiles(chat.client)
  if (argument !== '') await profiles.setName(argument === 'none' ? undefined : argument)
  const name = await profiles.ownName()
  chat.terminal.print(
    name === undefined
      ? '• You have no name for contacts: they see your nickname, which the relay knows.'
      : `• Friends see the name ${sanitizeLine(name)} once you write to them with forward secrecy. The relay cannot read it.`,
  )
}

async function connect(chat: Chat): Promise<void> {
  chat.client.connect()
}
