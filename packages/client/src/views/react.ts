// A hook for React. The application passes React in, so that the package does not depend on it.
import type { FollowedClient, Query } from './queries.ts'
import { type Followed, queryStore } from './signals.ts'

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
 * A query may be made anew at each rendering: queries with the same `key` are the same.
 */
export function makeUseQuery({ useMemo, useSyncExternalStore }: ReactHooks): UseQuery {
  return (client, query) => {
    const store = useMemo(() => queryStore(client, query), [client, query.key])
    return useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot)
  }
}
