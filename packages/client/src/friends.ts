// The friend list: what can be done with it, and keeping this device's copy, its sessions and its events in step.
import {
  AliasId,
  accountEndpoints,
  check,
  type FriendProfile,
  type FriendshipStatus,
  friendEndpoints,
  type ReplyOf,
  type UserLookup,
} from '@sotto/protocol'
import { asClientError, ClientError } from './client-error.ts'
import { Backoff } from './clock.ts'
import type { Emitter } from './events.ts'
import { keysIn } from './friend-keys.ts'
import type { Http } from './http.ts'
import type { Journal } from './journal.ts'
import type { Platform } from './options.ts'
import type { Sessions } from './sessions.ts'

/** Hints of the relay cause at most one synchronisation in this time. */
const HINT_INTERVAL_MS = 250
const RETRY = { firstMs: 2000, maxMs: 60_000 }

/** What the friend list works with. */
export interface FriendsContext {
  readonly platform: Platform
  readonly http: Http
  readonly journal: Journal
  readonly emitter: Emitter
  readonly sessions: Sessions
  /** Called when sessions were made or have become usable again. */
  readonly onReadable: (conversationIds: readonly string[]) => void
}

/** The friend list of the identity. */
export class Friends {
  readonly #context: FriendsContext
  readonly #backoff: Backoff
  /** Requests sent that the list has not shown as pending yet; the answer may come before it does. */
  readonly #asked = new Set<number>()
  #list: readonly FriendProfile[] = []
  #running: Promise<readonly FriendProfile[]> | undefined
  #next: Promise<readonly FriendProfile[]> | undefined
  #lastHintAt = Number.NEGATIVE_INFINITY
  #cancelHint: (() => void) | undefined
  #stopped = false

  constructor(context: FriendsContext) {
    this.#context = context
    this.#backoff = new Backoff(context.platform.random, RETRY)
  }

  async load(): Promise<void> {
    this.#list = await this.#context.platform.store.listFriends()
  }

  /** The list as it was when last synchronised. */
  list(): readonly FriendProfile[] {
    return this.#list
  }

  /** Fetches the list and makes the sessions it asks for. Sees everything that happened before the call. */
  sync(): Promise<readonly FriendProfile[]> {
    if (!this.#running) {
      this.#running = this.#syncOnce().finally(() => {
        this.#running = undefined
      })
      return this.#running
    }
    // The one under way may have been answered before what this caller wants to see; all who come now share the next.
    const afterThis = this.#running.catch(() => {})
    this.#next ??= afterThis.then(() => {
      this.#next = undefined
      return this.sync()
    })
    return this.#next
  }

  /** Synchronises soon, again after a wait if it fails. Cheap to call for every frame. */
  hint(): void {
    if (this.#cancelHint || this.#stopped) return
    const { clock } = this.#context.platform
    const waitMs = Math.min(Math.max(0, this.#lastHintAt + HINT_INTERVAL_MS - clock.now()), HINT_INTERVAL_MS)
    this.#scheduleHint(waitMs)
  }

  stop(): void {
    this.#stopped = true
    this.#cancelHint?.()
  }

  /** Asks for friendship. @throws ClientError `REFUSED`, `INVALID_ARGUMENT`, `NETWORK`. */
  async request(aliasId: string): Promise<FriendshipStatus> {
    const body = { to_alias_id: parseAlias(aliasId) }
    const { friendship_id, status } = await this.#context.http.call(friendEndpoints.requestFriend, { body })
    if (status === 'pending') this.#asked.add(friendship_id)
    await this.sync()
    return status
  }

  /** Accepts a request that was made to this account. */
  async accept(friendshipId: number): Promise<void> {
    await this.#context.http.call(friendEndpoints.acceptFriend, { params: { id: friendshipId } })
    await this.sync()
  }

  /** Rejects a request that was made to this account; who made it is told nothing. */
  async reject(friendshipId: number): Promise<void> {
    await this.#context.http.call(friendEndpoints.rejectFriend, { params: { id: friendshipId } })
    await this.sync()
  }

  /** Ends a friendship, or takes back a request. */
  async remove(friendshipId: number): Promise<void> {
    await this.#context.http.call(friendEndpoints.removeFriend, { params: { id: friendshipId } })
    await this.sync()
  }

  async block(aliasId: string): Promise<void> {
    await this.#context.http.call(friendEndpoints.block, { params: { alias_id: parseAlias(aliasId) } })
    await this.sync()
  }

  async unblock(aliasId: string): Promise<void> {
    await this.#context.http.call(friendEndpoints.unblock, { params: { alias_id: parseAlias(aliasId) } })
  }

  listBlocks(): Promise<ReplyOf<'listBlocks'>> {
    return this.#context.http.call(friendEndpoints.listBlocks, {})
  }

  /** Looks an account up. Where it is a contact and the keys are not those recorded, a `security_violation` is raised. */
  async lookUp(aliasId: string): Promise<UserLookup> {
    const { http, sessions } = this.#context
    const alias_id = parseAlias(aliasId)
    const found = await http.call(accountEndpoints.lookUpUser, { params: { alias_id } })
    if (found.alias_id !== alias_id)
      throw new ClientError('BAD_REPLY', 'the relay answered with another account than was asked for')
    const current = keysIn(found)
    const codes = await sessions.codesOf([current.x25519])
    // Nothing goes out to that contact until the friend list has shown the recorded keys again.
    if (!sessions.compare(alias_id, current, codes)) this.hint()
    return found
  }

  #scheduleHint(waitMs: number): void {
    const { clock } = this.#context.platform
    this.#cancelHint = clock.after(waitMs, () => {
      this.#lastHintAt = clock.now()
      this.#cancelHint = undefined
      this.sync().then(
        () => this.#backoff.reset(),
        (error: unknown) => this.#retryHint(asClientError(error, 'BAD_REPLY')),
      )
    })
  }

  #retryHint(error: ClientError): void {
    if (this.#stopped) return
    // Without a network the next connection brings the next synchronisation.
    if (error.code === 'NETWORK') return
    this.#context.emitter.emit('error', error)
    if (!this.#cancelHint && error.retry !== 'never')
      this.#scheduleHint(Math.max(this.#backoff.nextMs(), Math.min(error.retryAfterMs ?? 0, RETRY.maxMs)))
  }

  async #syncOnce(): Promise<readonly FriendProfile[]> {
    const { http, sessions, journal, onReadable } = this.#context
    const friends = await http.call(friendEndpoints.listFriends, {})
    // Before anything is changed: from here on nobody may come between.
    const keys = await sessions.deriveKeys(friends)
    if (this.#stopped) return this.#list
    const before = this.#list
    this.#list = friends
    if (JSON.stringify(before) !== JSON.stringify(friends)) journal.record([{ change: 'friends', friends }])
    const readable = sessions.reconcile(friends, keys)
    if (readable.length > 0) onReadable(readable)
    this.#announce(before, friends)
    return friends
  }

  // What is new is read off the list alone: a hint of the relay is no event, and one that was lost loses none.
  #announce(before: readonly FriendProfile[], friends: readonly FriendProfile[]): void {
    const known = new Map(before.map((friend) => [friend.friendship_id, friend]))
    for (const friend of friends) {
      const was = known.get(friend.friendship_id)
      if (friend.status === 'pending' && friend.direction === 'received' && was?.status !== 'pending') {
        this.#context.emitter.emit('friend_request', friend)
      }
      const wasAsked = this.#asked.delete(friend.friendship_id) || was?.status === 'pending'
      if (friend.status === 'accepted' && friend.direction === 'sent' && wasAsked) {
        this.#context.emitter.emit('friend_accepted', friend)
      }
    }
  }
}

function parseAlias(text: string): AliasId {
  try {
    return check(AliasId, text)
  } catch {
    throw new ClientError('INVALID_ARGUMENT', 'an alias has 3 to 32 of a-z, 0-9 and _')
  }
}
