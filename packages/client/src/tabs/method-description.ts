// What makes a method one that a tab can ask another tab to run: its parameters, its answer, and the rule for
// repeating it.
import * as v from 'valibot'
import type { SottoClient } from '../client.ts'
import { asClientError, ClientError } from '../client-error.ts'

/** A method that one tab can ask another to run. */
export interface TabMethod<A extends readonly unknown[], R> {
  readonly name: string
  /**
   * Runs it on the client. `again` says that it may have run before; a refusal that proves so is then a
   * success.
   */
  run(client: SottoClient, args: A, again: boolean): Promise<R>
  /**
   * Checks the parameters that another tab sent, and runs it. @throws ClientError `INVALID_ARGUMENT`, and
   * what it throws itself.
   */
  runCarried(client: SottoClient, args: readonly unknown[], again: boolean): Promise<unknown>
  /** Whether it may be requested again if it may have run already. */
  mayRepeat(args: readonly unknown[]): boolean
  /** Reads the answer that another tab sent; throws if it is not an answer of this method. */
  readAnswer(answer: unknown): R
}

/** The schemas of a method, and its rule for repeating it. */
export interface MethodDescription<A extends readonly unknown[], R> {
  readonly takes: v.GenericSchema<unknown, A>
  readonly answers: v.GenericSchema<unknown, R>
  /** Which requests may be made twice; all of them by default. */
  readonly mayRepeat?: (...args: A) => boolean
  /** The answer to a repeated request, if this refusal proves that the first one succeeded. */
  readonly alreadyDone?: (refusal: ClientError) => { readonly answer: NoInfer<R> } | undefined
}

/** Makes a method from its description. `call` runs it on a client. */
export function tabMethod<A extends readonly unknown[], R>(
  name: string,
  description: MethodDescription<A, R>,
  call: (client: SottoClient, ...args: A) => R | Promise<R>,
): TabMethod<A, R> {
  const { takes, answers, alreadyDone } = description
  const run = async (client: SottoClient, args: A, again: boolean): Promise<R> => {
    try {
      return await call(client, ...args)
    } catch (thrown) {
      const error = asClientError(thrown, 'STORE_FAILED')
      const done = again ? alreadyDone?.(error) : undefined
      if (done) return done.answer
      throw error
    }
  }
  return {
    name,
    run,
    runCarried: async (client, carried, again) => {
      const args = v.safeParse(takes, carried)
      if (args.success) return run(client, args.output, again)
      throw new ClientError('INVALID_ARGUMENT', `a parameter is not valid: ${v.summarize(args.issues)}`)
    },
    mayRepeat: (carried) => {
      const args = v.safeParse(takes, carried)
      return !args.success || (description.mayRepeat?.(...args.output) ?? true)
    },
    readAnswer: (answer) => v.parse(answers, answer),
  }
}
