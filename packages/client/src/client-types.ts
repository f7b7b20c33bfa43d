// The types of the client's own methods, and the interface that both kinds of client have.
import type { PublicIdentity, StoredIdentity } from './stores/stores.ts'

/** The alias and nickname of an identity. */
export interface Account {
  readonly aliasId: string
  readonly nickname: string
}

/** Options of `logOut`. */
export interface LogOutOptions {
  /** Whether to delete the identity and everything else that is stored on this device. */
  readonly erase?: boolean
}

/** An identity is without its phrase. */
type WithoutPhrase<T> = T extends StoredIdentity ? PublicIdentity : T
/** What a client elsewhere answers: the same, but never at once. */
type Anywhere<R> = R extends Promise<infer T> ? Promise<WithoutPhrase<T>> : R | Promise<R>

/** See `Client`. Events are the same in every client. */
export type ClientOf<C> = {
  readonly [N in keyof C]: N extends 'on' | 'events'
    ? C[N]
    : C[N] extends (...args: infer A) => infer R
      ? (...args: A) => Anywhere<R>
      : WithoutPhrase<C[N]>
}
