// The friend list: changes it at the relay, keeps this device's copy up to date, creates sessions and emits
// events.
import {
  AliasId,
  accountEndpoints,
  type FriendProfile,
  type FriendshipStatus,
  friendEndpoints,
  type ReplyOf,
  type UserLookup,
} from '@sotto/protocol'
import { asClientError, ClientError, checkArgument } from '../client-error.ts'
import type { Emitter } from '../events/events.ts'
import type { Platform } from '../platform/platform.ts'
import { Backoff } from '../platform/platform.ts'
import type { Journal } from '../stores/stores.ts'
import type { Http } from '../wire/wire.ts'
import { keysIn } from './friend-keys.ts'
import { fetchFriends } from './friend-pages.ts'
import type { Sessions } from './sessions.ts'

/** However many hints arrive, the list is synchronised at most once in this time. */
const HINT_INTERVAL_MS = 250
const RETRY = { firstMs: 2000, maxMs: 60_000 }

export interface FriendsContext {
  readonly platform: Platform
  readonly http: Http
  readonly journal: Journal
  readonly emitter: Emitter
  readonly sessions: Sessions
  /** Called with the conversations whose session was created or is usable again. */
  readonly onReadable: (conversationIds: readonly string[]) => void
}

export class Friends {
  readonly #context: FriendsContext
  readonly #backoff: Backoff
  /**
   * Requests sent that the list has not shown as pending. They may be accepted before the list shows them.
   */
  readonly #sentRequests = new Set<number>()
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

  /** The list as of the last synchronisation. */
  list(): readonly FriendProfile[] {
    return this.#list
  }

  /**
   * Fetches the list and creates missing sessions. The result includes everything that happened before the
   * call.
   */
  sync(): Promise<readonly FriendProfile[]> {
    if (!this.#running) {
      this.#running = this.#syncOnce().finally(() => {
        this.#running = undefined
      })
      return this.#running
    }
    // The relay may have answered the running request before the change that this caller expects. So this
    // caller, and all that come while it runs, share the next request.
    const afterThis = this.#running.catch(() => {})
    this.#next ??= afterThis.then(() => {
      this.#next = undefined
      return this.sync()
    })
    return this.#next
  }

  /** Synchronises soon, and retries after a wait if that fails. Cheap enough to call for every frame. */
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

  /** Sends a friend request. @throws ClientError `REFUSED`, `INVALID_ARGUMENT`, `NETWORK`. */
  async request(aliasId: string): Promise<FriendshipStatus> {
    const body = { to_alias_id: parseAlias(aliasId) }
    const { friendship_id, status } = await this.#context.http.call(friendEndpoints.requestFriend, { body })
    if (status === 'pending') this.#sentRequests.add(friendship_id)
    await this.sync()
    return status
  }

  /** Accepts a friend request that this account received. */
  async accept(friendshipId: number): Promise<void> {
    await this.#context.http.call(friendEndpoints.acceptFriend, { params: { id: friendshipId } })
    await this.sync()
  }

  /** Rejects a friend request that this account received. The sender is not notified. */
  async reject(friendshipId: number): Promise<void> {
    await this.#context.http.call(friendEndpoints.rejectFriend, { params: { id: friendshipId } })
    await this.sync()
  }

  /** Ends a friendship, or withdraws a friend request. */
  async remove(friendshipId: number): Promise<void> {
    await this.#context.http.call(friendEndpoints.removeFriend, { params: { id: friendshipId } })
    await this.sync()
  }

  /** Replaces the recorded keys of a contact by the relay's current ones, which are not verified. */
  async renewSession(contact: string): Promise<void> {
    await this.#context.sessions.forget(contact)
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

  /**
   * Looks up an account. If it is a contact and its keys differ from the recorded ones, emits
   * `security_violation`.
   */
  async lookUp(aliasId: string): Promise<UserLookup> {
    const { http, sessions } = this.#context
    const alias_id = parseAlias(aliasId)
    const found = await http.call(accountEndpoints.lookUpUser, { params: { alias_id } })
    if (found.alias_id !== alias_id)
      throw new ClientError('BAD_REPLY', 'the relay answered with another account')
    const current = keysIn(found)
    const codes = await sessions.codesOf([current.x25519])
    // Nothing is sent to that contact until the friend list shows the recorded keys again.
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
    // Without a network there is no retry: the next connection synchronises.
    if (error.code === 'NETWORK') return
    this.#context.emitter.emit('error', error)
    if (!this.#cancelHint && error.retry !== 'never')
      this.#scheduleHint(this.#backoff.nextMs(error.retryAfterMs))
  }

  async #syncOnce(): Promise<readonly FriendProfile[]> {
    const { http, sessions, journal, onReadable } = this.#context
    const friends = await fetchFriends(http)
    // The only wait after the fetch. After it, everything changes in one tick of the event loop.
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

  // Events follow only from the difference between two lists. So a hint alone is no event, and a lost hint
  // loses none.
  #announce(before: readonly FriendProfile[], friends: readonly FriendProfile[]): void {
    const known = new Map(before.map((friend) => [friend.friendship_id, friend]))
    for (const friend of friends) {
      const was = known.get(friend.friendship_id)
      if (friend.status === 'pending' && friend.direction === 'received' && was?.status !== 'pending') {
        this.#context.emitter.emit('friend_request', friend)
      }
      const wasPending = this.#sentRequests.delete(friend.friendship_id) || was?.status === 'pending'
      if (friend.status === 'accepted' && friend.direction === 'sent' && wasPending) {
        this.#context.emitter.emit('friend_accepted', friend)
      }
    }
  }
}

function parseAlias(text: string): AliasId {
  return checkArgument(AliasId, text, 'an alias has 3 to 32 of a-z, 0-9 and _')
}
