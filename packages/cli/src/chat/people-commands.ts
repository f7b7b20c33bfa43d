// The commands for friends, requests and blocks.
import type { FriendProfile } from '@sotto/client'
import { sanitizeLine } from '../sanitize.ts'
import type { Chat } from './chat.ts'
import type { CommandGroup } from './command-row.ts'
import { inWords } from './explain.ts'
import {
  anybody,
  choose,
  completePerson,
  everybody,
  namesOf,
  nobodyCalled,
  type Person,
  who,
} from './people.ts'
import { clockTime } from './transcript.ts'

/** The commands for friends, requests and blocks. */
export const peopleCommands: CommandGroup = {
  title: 'People (by alias, name or number)',
  rows: [
    { name: 'add', takes: '<alias>', summary: 'send a friend request', run: add },
    {
      name: 'accept',
      takes: '[who]',
      summary: 'accept a request',
      run: accept,
      complete: async (chat, typed) => namesOf(requestsIn(chat, ['pending', 'rejected']), typed),
    },
    {
      name: 'reject',
      takes: '[who]',
      summary: 'reject a request; the sender is not told',
      run: reject,
      complete: async (chat, typed) => namesOf(requestsIn(chat, ['pending']), typed),
    },
    { name: 'friends', takes: '', summary: 'list friends and requests', run: friends },
    { name: 'with', takes: '<who>', summary: 'open a conversation', run: openWith, complete: completePerson },
    {
      name: 'unfriend',
      takes: '<who>',
      summary: 'end a friendship, or withdraw a request',
      run: unfriend,
      complete: completePerson,
    },
    { name: 'block', takes: '<who>', summary: 'block someone', run: block, complete: completePerson },
    {
      name: 'unblock',
      takes: '<who>',
      summary: 'unblock someone',
      run: unblock,
      complete: async (chat, typed) => namesOf(await blocked(chat), typed),
    },
    { name: 'blocks', takes: '', summary: 'list the people whom you have blocked', run: blocks },
    {
      name: 'newkeys',
      takes: '<who>',
      summary: 'accept the changed keys of a friend',
      run: newKeys,
      complete: completePerson,
    },
  ],
}

async function add(chat: Chat, argument: string): Promise<void> {
  const aliasId = argument.toLowerCase()
  const nobody = `Nobody at this relay has the alias ${sanitizeLine(aliasId)}. Your friend finds their own with /me.`
  const status = await inWords({ NOT_FOUND: nobody }, () => chat.client.requestFriend(aliasId))
  if (status !== 'accepted')
    chat.terminal.print(`• Sent a request to ${sanitizeLine(aliasId)}. You will see when they accept.`)
  else await befriended(chat, aliasId)
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

type Statuses = readonly FriendProfile['status'][]

function requestsIn(chat: Chat, statuses: Statuses): readonly (Person & { profile: FriendProfile })[] {
  return chat.client
    .friends()
    .filter((each) => each.direction === 'received' && statuses.includes(each.status))
    .map((profile) => ({ profile, aliasId: profile.alias_id, name: sanitizeLine(profile.nickname) }))
}

function chooseRequest(chat: Chat, argument: string, statuses: Statuses): FriendProfile | undefined {
  const requests = requestsIn(chat, statuses)
  if (argument !== '') {
    const chosen = choose(chat, requests, argument, '/friends lists the requests')
    return requests.find((each) => each === chosen)?.profile
  }
  const pending = requests.filter(({ profile }) => profile.status === 'pending')
  if (pending.length === 1) return pending[0]?.profile
  const waiting = pending.map(who).join(', ')
  chat.terminal.print(pending.length === 0 ? 'There are no requests.' : `Whose request? ${waiting}`)
  return undefined
}

async function friends(chat: Chat): Promise<void> {
  const list = await chat.client.syncFriends().catch(() => chat.client.friends())
  if (list.length === 0)
    chat.terminal.print('No friends yet. /add <alias> sends a request; /me shows your own alias.')
  const accepted = (await chat.client.conversations()).filter((conversation) => conversation.isFriend)
  for (const [at, each] of accepted.entries()) {
    const nickname = sanitizeLine(each.nickname)
    const marks = [
      chat.names.ownOf(each.conversationId) === undefined ? '' : `nickname ${nickname}`,
      each.isVerified ? 'verified' : '',
      each.unread > 0 ? `${each.unread} new` : '',
    ]
    const note = marks.filter((mark) => mark !== '').join(', ')
    const row = `${String(at + 1).padStart(3)}  ${each.contactId.padEnd(14)} ${chat.name(each.conversationId)}`
    chat.terminal.print(note === '' ? row : `${row}  (${note})`)
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
  const people = (await everybody(chat)).filter((each) => each.conversationId !== undefined)
  const person = choose(chat, people, argument, '/friends lists your friends')
  if (person?.conversationId !== undefined) await chat.open(person.conversationId)
}

async function unfriend(chat: Chat, argument: string): Promise<void> {
  const profiles = chat.client.friends()
  const listed = (await everybody(chat)).filter((each) =>
    profiles.some((profile) => profile.alias_id === each.aliasId),
  )
  const person = choose(chat, listed, argument, '/friends lists friends and requests')
  const profile = profiles.find((each) => each.alias_id === person?.aliasId)
  if (!profile) return
  await chat.client.removeFriend(profile.friendship_id)
  const name = sanitizeLine(profile.nickname)
  chat.terminal.print(
    profile.status === 'accepted'
      ? `• ${name} is no longer your friend. The messages stay on this device.`
      : `• The request is gone: ${name} is not in your list any more.`,
  )
}

async function block(chat: Chat, argument: string): Promise<void> {
  const person = await anybody(chat, argument)
  if (!person) return
  await inWords({ NOT_FOUND: nobodyCalled(argument) }, () => chat.client.block(person.aliasId))
  chat.terminal.print(`• Blocked ${who(person)}. /unblock undoes it, /blocks lists them.`)
}

async function blocked(chat: Chat): Promise<readonly (Person & { readonly since: string })[]> {
  const list = await chat.client.listBlocks()
  return list.map((each) => ({
    aliasId: each.alias_id,
    name: sanitizeLine(each.nickname),
    since: each.created_at,
  }))
}

async function unblock(chat: Chat, argument: string): Promise<void> {
  const person = choose(chat, await blocked(chat), argument, '/blocks lists the people whom you have blocked')
  if (!person) return
  await chat.client.unblock(person.aliasId)
  chat.terminal.print(`• Unblocked ${who(person)}. /add ${person.aliasId} asks to be friends again.`)
}

async function blocks(chat: Chat): Promise<void> {
  const list = await blocked(chat)
  if (list.length === 0) chat.terminal.print('You have blocked nobody.')
  for (const each of list)
    chat.terminal.print(
      `  ${each.aliasId.padEnd(14)} ${each.name}  (since ${clockTime(Date.parse(each.since))})`,
    )
}

async function newKeys(chat: Chat, argument: string): Promise<void> {
  const person = choose(chat, await everybody(chat), argument, '/friends lists your friends')
  if (!person) return
  await chat.client.renewSession(person.aliasId)
  chat.terminal.print(
    `• Accepted the new keys of ${chat.name(person.aliasId)}. Compare the security code: /code`,
  )
}
