// The part of `SharedClient` that only forwards: each method of the client, requested from the leader tab.
import type { SottoClient } from '../client.ts'
import { type ClientMethodName, clientMethodNames } from './tab-methods.ts'

/** Requests a method of the client from the leader tab. */
type Request = <N extends ClientMethodName>(
  name: N,
  args: Parameters<SottoClient[N]>,
) => Promise<Awaited<ReturnType<SottoClient[N]>>>

/** The methods of a type, each answering a promise. */
type Promised<T> = {
  readonly [N in keyof T]: T[N] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never
}
/** `SharedClient` has its own `send`, which chooses the message's id. */
type Forwarded = Promised<Pick<SottoClient, Exclude<ClientMethodName, 'send'>>>

class Forwarding {
  constructor(request: Request) {
    for (const name of clientMethodNames) {
      // The class that extends this one has its own.
      if (name in this) continue
      const value = (...args: Parameters<SottoClient[typeof name]>) => request(name, args)
      Object.defineProperty(this, name, { value, writable: true, configurable: true })
    }
  }
}

/**
 * A class with every method of the client. The compiler cannot follow a loop that adds methods, hence the
 * cast.
 */
export const ForwardedMethods = Forwarding as unknown as abstract new (request: Request) => Forwarded
