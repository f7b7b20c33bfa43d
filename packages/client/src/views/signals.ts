// Keeps values of an application's views up to date, in any framework whose signals have a setter.
import type { FollowedClient, Query } from './queries.ts'

export { conversation, conversations, type FollowedClient, friends, messages, type Query } from './queries.ts'

/** The latest result of a query: a value, an error, or neither before the first read. */
export interface Followed<T> {
  readonly value?: T
  /** Why the latest read failed: a `ClientError`, for example `LOCKED` or `NO_IDENTITY`. */
  readonly error?: unknown
}

/**
 * Reads a query now and after every change that concerns it, and passes each result to `set`. Returns a
 * function that stops it.
 *
 *     const chats = signal<readonly Conversation[]>([]) // Preact, and others with a `value`
 *     const stop = follow(client, conversations(), (value = []) => { chats.value = value })
 *
 *     const [chats, setChats] = createSignal<readonly Conversation[]>([]) // Solid
 *     onCleanup(follow(client, conversations(), (value = []) => setChats(value)))
 *
 * There is one read at a time. Changes that come during a read lead to one more, so a burst of messages costs
 * few reads, and the latest result is always passed last. If a read fails, `set` gets `undefined` and the
 * error; the query is read again after the next change.
 */
export function follow<T>(
  client: FollowedClient,
  query: Query<T>,
  set: (value: T | undefined, error?: unknown) => void,
): () => void {
  let isReading = false
  let isStale = false
  let hasEnded = false
  const readOnce = async (): Promise<Followed<T>> => {
    try {
      return { value: await query.read(client) }
    } catch (error) {
      return { error }
    }
  }
  const read = async (): Promise<void> => {
    isStale = true
    if (isReading) return
    isReading = true
    try {
      while (isStale && !hasEnded) {
        isStale = false
        const { value, error } = await readOnce()
        if (!hasEnded) set(value, error)
      }
    } finally {
      isReading = false
    }
  }
  const stopListening = client.on('changes', (changes) => {
    if (changes.some((change) => change.kind === 'everything' || query.concerns(change))) void read()
  })
  void read()
  return () => {
    hasEnded = true
    stopListening()
  }
}

/** A query's result as a store that views subscribe to. */
export interface QueryStore<T> {
  /** Calls `onChange` after each new result, until the returned function is called. */
  readonly subscribe: (onChange: () => void) => () => void
  /** The latest result: the same object until there is a new one. */
  readonly getSnapshot: () => Followed<T>
}

/** Makes a store of a query. It reads only while there is a subscriber. */
export function queryStore<T>(client: FollowedClient, query: Query<T>): QueryStore<T> {
  const subscribers = new Set<() => void>()
  let snapshot: Followed<T> = {}
  let stop = (): void => {}
  const onResult = (value: T | undefined, error?: unknown): void => {
    snapshot = { ...(value === undefined ? {} : { value }), ...(error === undefined ? {} : { error }) }
    for (const subscriber of [...subscribers]) subscriber()
  }
  return {
    subscribe: (onChange) => {
      const subscriber = (): void => onChange()
      subscribers.add(subscriber)
      if (subscribers.size === 1) stop = follow(client, query, onResult)
      return () => {
        if (subscribers.delete(subscriber) && subscribers.size === 0) stop()
      }
    },
    getSnapshot: () => snapshot,
  }
}
