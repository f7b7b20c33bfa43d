// Finds the people that commands name: by alias, by name or its beginning, or by number in /friends.
import { sanitizeLine } from '../sanitize.ts'
import type { Chat } from './chat.ts'
import { namesFrom } from './completion.ts'

/** Somebody whom a command can name. */
export interface Person {
  readonly aliasId: string
  /** What it calls itself, else its nickname, safe to print. */
  readonly name: string
  /** The number in /friends. */
  readonly number?: number
  /** The conversation, if there is one. */
  readonly conversationId?: string
}

/** Everybody with a conversation, friends first in the order of /friends, then the requests. */
export async function everybody(chat: Chat): Promise<readonly Person[]> {
  const conversations = await chat.client.conversations()
  const friends = conversations.filter((each) => each.isFriend)
  const others = conversations.filter((each) => !each.isFriend)
  const people = [...friends, ...others].map((each, at) => ({
    aliasId: each.contactId,
    name: chat.names.ownOf(each.conversationId) ?? sanitizeLine(each.nickname),
    conversationId: each.conversationId,
    ...(each.isFriend ? { number: at + 1 } : {}),
  }))
  const known = new Set(people.map((each) => each.aliasId))
  const requests = chat.client.friends().filter((each) => !known.has(each.alias_id))
  return [
    ...people,
    ...requests.map((each) => ({ aliasId: each.alias_id, name: sanitizeLine(each.nickname) })),
  ]
}

/** Those whom a text names: by an exact alias, else an exact name, a number, or a beginning. */
function matching(people: readonly Person[], text: string): readonly Person[] {
  const wanted = text.toLowerCase()
  const name = sanitizeLine(text).toLowerCase()
  const ways: ((person: Person) => boolean)[] = [
    (each) => each.aliasId === wanted,
    (each) => each.name.toLowerCase() === name,
    (each) => /^\d{1,4}$/.test(wanted) && each.number === Number(wanted),
    (each) => name !== '' && each.name.toLowerCase().startsWith(name),
  ]
  for (const way of ways) {
    const found = people.filter(way)
    if (found.length > 0) return found
  }
  return []
}

/** A person's name with the alias, if they differ. */
export function who({ name, aliasId }: Person): string {
  return name === aliasId ? aliasId : `${name} (${aliasId})`
}

/**
 * The one person whom a text names. If there is none or more than one, prints that and returns undefined.
 * @param where which list shows the people to choose from
 */
export function choose(
  chat: Chat,
  people: readonly Person[],
  text: string,
  where: string,
): Person | undefined {
  const found = matching(people, text)
  if (found.length > 1) return askWhich(chat, found)
  if (found.length === 0) chat.terminal.print(`Nobody is called ${sanitizeLine(text)}; ${where}.`)
  return found[0]
}

/** Prints that a text names several people. */
export function askWhich(chat: Chat, people: readonly Person[]): undefined {
  chat.terminal.print(`Who? ${people.map(who).join(', ')}. Use the alias.`)
}

/** The one person whom a text names, or somebody outside the list by alias. If several, prints that. */
export async function anybody(chat: Chat, text: string): Promise<Person | undefined> {
  const found = matching(await everybody(chat), text)
  if (found.length > 1) return askWhich(chat, found)
  return found[0] ?? { aliasId: text.toLowerCase(), name: sanitizeLine(text) }
}

/** That a text for {@link anybody} names nobody. */
export function nobodyCalled(text: string): string {
  return `Nobody is called ${sanitizeLine(text)}: it is no name in your list, and no alias at this relay.`
}

/** The names and aliases that begin with a typed text. */
export function namesOf(people: readonly Person[], typed: string): readonly string[] {
  const names = people.map((each) => each.name)
  // A name of several people means nobody.
  const unique = names.filter((name) => names.indexOf(name) === names.lastIndexOf(name))
  return namesFrom([...unique, ...people.map((each) => each.aliasId)], typed)
}

/** Completes the name of anybody in the list. */
export async function completePerson(chat: Chat, typed: string): Promise<readonly string[]> {
  return namesOf(await everybody(chat), typed)
}
