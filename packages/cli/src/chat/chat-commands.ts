// The commands after "/" in a chat: one row per command. /help is generated from the rows.
import type { FriendProfile } from '@sotto/client'
import { sanitizeLine } from '../sanitize.ts'
import type { Chat, ChatCommands } from './chat.ts'
import { qrOf } from './qr.ts'
import { clockTime } from './transcript.ts'

interface ChatCommand {
  readonly name: string
  readonly takes: string
  readonly summary: string
  readonly run: (chat: Chat, argument: string) => Promise<void>
  /** What may replace the argument, as far as it was typed. */
  readonly complete?: (chat: Chat, argument: string) => Promise<readonly string[]>
}

const commands: readonly ChatCommand[] = [
  { name: 'add', takes: '<alias>', summary: 'send a friend request', run: add },
  { name: 'accept', takes: '[alias]', summary: 'accept a request', run: accept },
  { name: 'reject', takes: '[alias]', summary: 'reject a request; the sender is not told', run: reject },
  { name: 'friends', takes: '', summary: 'list friends and requests', run: friends },
  {
    name: 'with',
    takes: '<alias>',
    summary: 'open a conversation, by alias, nickname or number',
    run: openWith,
  },
  { name: 'reply', takes: '<n> <text>', summary: 'answer message #n', run: reply },
  { name: 'retract', takes: '[n]', summary: 'take back your last message, or #n', run: retract },
  {
    name: 'history',
    takes: '[count]',
    summary: 'show earlier messages of the open conversation',
    run: history,
  },
  { name: 'code', takes: '', summary: 'show the security code to compare with your friend', run: code },
  { name: 'verify', takes: '<code>', summary: 'check the code your friend reads out to you', run: verify },
  { name: 'trust', takes: '', summary: 'mark your friend as verified', run: trust },
  { name: 'untrust', takes: '', summary: 'undo /trust', run: untrust },
  { name: 'newkeys', takes: '<alias>', summary: 'accept the changed keys of a friend', run: newKeys },
  { name: 'me', takes: '', summary: 'show your nickname and alias', run: me },
  { name: 'qr', takes: '', summary: 'show your alias as a QR code', run: qr },
  { name: 'nick', takes: '<name>', summary: 'change your nickname', run: nick },
  { name: 'block', takes: '<alias>', summary: 'block someone', run: block },
  { name: 'unblock', takes: '<alias>', summary: 'unblock someone', run: unblock },
  { name: 'unfriend', takes: '<alias>', summary: 'end a friendship, or withdraw a request', run: unfriend },
  { name: 'connect', takes: '', summary: 'reconnect after another device took over', run: connect },
  { name: 'help', takes: '', summary: 'show this help', run: help },
  { name: 'quit', takes: '', summary: 'leave (also Ctrl-C, Ctrl-D)', run: async (chat) => chat.leave() },
]

/** The commands, for a chat. */
export const chatCommands: ChatCommands = { run: runChatCommand, complete: completeChatCommand }

async function runChatCommand(chat: Chat, line: string): Promise<boolean> {
  const [, name, argument = ''] = /^\/(\S+)\s*(.*)$/s.exec(line) ?? []
  const command = commands.find((each) => each.name === name?.toLowerCase())
  if (!command) return false
  if (command.takes.startsWith('<') && argument.trim() === '')
    chat.terminal.print(`Usage: /${command.name} ${command.takes}`)
  else await command.run(chat, argument.trim())
  return true
}

async function completeChatCommand(chat: Chat, text: string): Promise<readonly string[]> {
  const [, name, argument] = /^\/(\S*)(?:\s+(.*))?$/s.exec(text) ?? []
  if (argument === undefined) {
    const found = commands.filter((each) => each.name.startsWith((name ?? '').toLowerCase()))
    return found.map((each) => `/${each.name}${each.takes === '' ? '' : ' '}`)
  }
  const command = commands.find((each) => each.name === name?.toLowerCase())
  const choices = (await command?.complete?.(chat, argument)) ?? []
  return choices.map((choice) => `/${command?.name} ${choice}`)
}

async function add(chat: Chat, aliasId: string): Promise<void> {
  const status = await chat.client.requestFriend(aliasId.toLowerCase())
  if (status !== 'accepted')
    chat.terminal.print(`• Sent a request to ${sanitizeLine(aliasId)}. You will see when they accept.`)
  else await befriended(chat, aliasId.toLowerCase())
}

async function accept(chat: Chat, argument: string): Promise<void> {
  const request = chooseRequest(chat, argument, ['pending', 'rejected'])
  if (!request) return
  await chat.client.acceptFriend(request.friendship_id)
  await befriended(chat, request.alias_id)
}

async function befriended(chat: Chat, aliasId: string): Promise<void> {
  chat.terminal.print(`• ${chat.name(aliasId)} (${aliasId}) is your friend now.`)
  if (chat.openId === undefined) await chat.open(aliasId)
}

async function reject(chat: Chat, argument: string): Promise<void> {
  const request = chooseRequest(chat, argument, ['pending'])
  if (!request) return
  await chat.client.rejectFriend(request.friendship_id)
  chat.terminal.print(`• Rejected the request of ${chat.name(request.alias_id)}.`)
}

function chooseRequest(
  chat: Chat,
  argument: string,
  statuses: readonly FriendProfile['status'][],
): FriendProfile | undefined {
  const requests = chat.client
    .friends()
    .filter((each) => each.direction === 'received' && statuses.includes(each.status))
  const pending = requests.filter((each) => each.status === 'pending')
  if (argument !== '') {
    const request = requests.find((each) => each.alias_id === argument.toLowerCase())
    if (!request) chat.terminal.print(`There is no request from ${sanitizeLine(argument)}.`)
    return request
  }
  if (pending.length === 1) return pending[0]
  chat.terminal.print(
    pending.length === 0
      ? 'There are no requests.'
      : `Whose request? ${pending.map((each) => each.alias_id).join(', ')}`,
  )
  return undefined
}

async function friends(chat: Chat): Promise<void> {
  const list = await chat.client.syncFriends().catch(() => chat.client.friends())
  if (list.length === 0)
    chat.terminal.print('No friends yet. /add <alias> sends a request; /me shows your own alias.')
  const accepted = await chat.client.conversations()
  for (const [at, each] of accepted.filter((conversation) => conversation.isFriend).entries()) {
    const marks = [each.isVerified ? 'verified' : '', each.unread > 0 ? `${each.unread} new` : ''].filter(
      (mark) => mark !== '',
    )
    chat.terminal.print(
      `${String(at + 1).padStart(3)}  ${each.contactId.padEnd(14)} ${chat.name(each.conversationId)}${marks.length > 0 ? `  (${marks.join(', ')})` : ''}`,
    )
  }
  for (const each of list.filter((friend) => friend.status !== 'accepted')) {
    const state =
      each.direction === 'sent'
        ? 'request sent, no answer yet'
        : each.status === 'pending'
          ? `sent you a request: /accept ${each.alias_id}`
          : 'rejected by you'
    chat.terminal.print(`  -  ${each.alias_id.padEnd(14)} ${chat.name(each.alias_id)}  (${state})`)
  }
}

async function openWith(chat: Chat, argument: string): Promise<void> {
  const contact = await findContact(chat, argument)
  if (contact !== undefined) await chat.open(contact)
}

async function findContact(chat: Chat, argument: string): Promise<string | undefined> {
  const conversations = await chat.client.conversations()
  const wanted = argument.toLowerCase()
  const exact = conversations.filter((each) => each.contactId === wanted)
  const byNumber = /^\d{1,4}$/.test(wanted)
    ? conversations.filter((each) => each.isFriend)[Number(wanted) - 1]
    : undefined
  const byName = conversations.filter((each) => sanitizeLine(each.nickname).toLowerCase().startsWith(wanted))
  const found = exact.length > 0 ? exact : byNumber ? [byNumber] : byName
  if (found.length === 1) return found[0]?.conversationId
  if (found.length > 1)
    chat.terminal.print(
      `Which one? ${found.map((each) => `${chat.name(each.conversationId)}: /with ${each.contactId}`).join(', ')}`,
    )
  else chat.terminal.print(`There is no conversation with ${sanitizeLine(argument)}; /friends lists them.`)
  return undefined
}

async function reply(chat: Chat, argument: string): Promise<void> {
  const [, number = '', text = ''] = /^(#?\d+)\s+(.+)$/s.exec(argument) ?? []
  const target = chat.numbered(number)
  if (!target || target.conversationId !== chat.openId)
    chat.terminal.print('Usage: /reply <n> <text>; n is the number of a message in this conversation')
  else await chat.send(text, target.id)
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

async function history(chat: Chat, argument: string): Promise<void> {
  if (!isOpen(chat)) return
  const count = Number(argument === '' ? 50 : argument)
  if (Number.isInteger(count) && count > 0) await chat.showHistory(count)
  else chat.terminal.print('Usage: /history [count]')
}

async function code(chat: Chat): Promise<void> {
  if (!isOpen(chat)) return
  const { displayCode } = chat.client.securityCode(chat.openId)
  const groups = displayCode.split(' ')
  const rows = [0, 5, 10].map((at) => `    ${groups.slice(at, at + 5).join(' ')}`)
  const trusted = await chat.client.trustState(chat.openId)
  const state = trusted.status === 'verified' ? `verified ${clockTime(trusted.verifiedAt)}` : 'not verified'
  chat.terminal.print(`Your security code with ${chat.name(chat.openId)} (${state}):

${rows.join('\n')}

If your friend sees the same code, nobody is intercepting your messages. Compare it in person or
on a call, then use /verify <their code> or /trust.`)
}

async function verify(chat: Chat, argument: string): Promise<void> {
  if (!isOpen(chat)) return
  const isSame = await chat.client.verifySecurityCode(chat.openId, argument)
  chat.terminal.print(
    isSame
      ? `• The codes are the same: ${chat.name(chat.openId)} is verified.`
      : '! The codes differ. Check for a typing error. If there is none, somebody may be intercepting your messages.',
  )
}

async function trust(chat: Chat): Promise<void> {
  if (!isOpen(chat)) return
  await chat.client.markVerified(chat.openId)
  chat.terminal.print(`• ${chat.name(chat.openId)} is verified, on your word.`)
}

async function untrust(chat: Chat): Promise<void> {
  if (!isOpen(chat)) return
  await chat.client.resetTrust(chat.openId)
  chat.terminal.print(`• ${chat.name(chat.openId)} is no longer verified.`)
}

async function newKeys(chat: Chat, argument: string): Promise<void> {
  await chat.client.renewSession(argument.toLowerCase())
  chat.terminal.print(
    `• Accepted the new keys of ${chat.name(argument.toLowerCase())}. Compare the security code: /code`,
  )
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

async function block(chat: Chat, argument: string): Promise<void> {
  await chat.client.block(argument.toLowerCase())
  chat.terminal.print(`• Blocked ${sanitizeLine(argument)}.`)
}

async function unblock(chat: Chat, argument: string): Promise<void> {
  await chat.client.unblock(argument.toLowerCase())
  chat.terminal.print(`• Unblocked ${sanitizeLine(argument)}.`)
}

async function unfriend(chat: Chat, argument: string): Promise<void> {
  const friend = chat.client.friends().find((each) => each.alias_id === argument.toLowerCase())
  if (!friend) {
    chat.terminal.print(`${sanitizeLine(argument)} is not in your list; /friends shows it.`)
    return
  }
  await chat.client.removeFriend(friend.friendship_id)
  chat.terminal.print(
    `• ${sanitizeLine(friend.nickname)} is no longer your friend. The messages stay on this device.`,
  )
}

async function connect(chat: Chat): Promise<void> {
  chat.client.connect()
}

async function help(chat: Chat): Promise<void> {
  const rows = commands.map(({ name, takes, summary }) => `  ${`/${name} ${takes}`.padEnd(20)} ${summary}`)
  chat.terminal.print(
    `${rows.join('\n')}\nLines without / are sent; // begins a message with a slash.\nMarks: … sending  ✓ sent  ✓✓ delivered  ${chat.hasColour ? '\u001b[94m✓✓\u001b[0m' : '"read"'} read  ✗ refused`,
  )
}

function isOpen(chat: Chat): chat is Chat & { readonly openId: string } {
  if (chat.openId === undefined) chat.terminal.print('No conversation is open; /with <alias> opens one.')
  return chat.openId !== undefined
}
