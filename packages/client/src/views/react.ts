// A hook for React. The application passes React in, so that the package does not depend on it.
import type { FollowedClient, Query } from './queries.ts'
import { type Followed, type QueryStore, queryStore } from './signals.ts'

export { conversation, conversations, type FollowedClient, friends, messages, type Query } from './queries.ts'
export type { Followed } from './signals.ts'

/** The two hooks of React that are used; `React` itself has them. */
export interface ReactHooks {
  useMemo<T>(make: () => T, dependencies: readonly unknown[]): T
  useSyncExternalStore<T>(
    subscribe: (onChange: () => void) => () => void,
    getSnapshot: () => T,
    getServerSnapshot?: () => T,
  ): T
}

/** A hook that shows the latest result of a query, and renders again with each new one. */
export type UseQuery = <T>(client: FollowedClient, query: Query<T>) => Followed<T>

/**
 * Makes the hook, once for an application:
 *
 *     import * as React from 'react'
 *     import { conversations, makeUseQuery } from '@sotto/client/react'
 *     const useQuery = makeUseQuery(React)
 *
 *     function Chats({ client }) {
 *       const { value = [], error } = useQuery(client, conversations())
 *       …
 *     }
 *
 * A component may make a new query each time it renders: the `key` says which query it is. Components that
 * show the same query of a client share one result, so that they never differ on one screen.
 */
export function makeUseQuery({ useMemo, useSyncExternalStore }: ReactHooks): UseQuery {
  return (client, query) => {
    const store = useMemo(() => sharedStore(client, query), [client, query.key])
    return useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot)
  }
}

/** The stores that components share, by client and by the query's key. */
const shared = new WeakMap<FollowedClient, Map<string, QueryStore<unknown>>>()

/** The store of a query that mounted components have already, or else a new one for them to share. */
function sharedStore<T>(client: FollowedClient, query: Query<T>): QueryStore<T> {
  const stores = shared.get(client) ?? new Map<string, QueryStore<unknown>>()
  shared.set(client, stores)
  // Queries with the same key read the same, so the store has this type.
  const found = stores.get(query.key) as QueryStore<T> | undefined
  if (found) return found
  const { subscribe, getSnapshot } = queryStore(client, query)
  let subscribers = 0
  const store: QueryStore<T> = {
    getSnapshot,
    subscribe: (onChange) => {
      subscribers += 1
      if (!stores.has(query.key)) stores.set(query.key, store)
      const stop = subscribe(onChange)
      return () => {
        stop()
        subscribers -= 1
        // A component that is mounted later must not begin with an old result.
        if (subscribers === 0 && stores.get(query.key) === store) stores.delete(query.key)
      }
    },
  }
  stores.set(query.key, store)
  return store
}
