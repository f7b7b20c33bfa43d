// What makes a method one that a tab can ask another tab to run: its parameters, its answer, and the rule for
// repeating it.
import * as v from 'valibot'
import { asClientError, ClientError } from './client-error.ts'

/** A method of `T` that one tab can ask another to run: of the client, or of a module's part. */
export interface TabMethod<T, A extends readonly unknown[], R> {
  readonly name: string
  /** Runs it. `again` says that it may have run before; a refusal that proves so is then a success. */
  run(target: T, args: A, again: boolean): Promise<R>
  /**
   * Checks the parameters that another tab sent, and runs it. @throws ClientError `INVALID_ARGUMENT`, and
   * what it throws itself.
   */
  runCarried(target: T, args: readonly unknown[], again: boolean): Promise<unknown>
  /** Whether it may be requested again if it may have run already. */
  mayRepeat(args: readonly unknown[]): boolean
  /** Reads the answer that another tab sent; throws if it is not an answer of this method. */
  readAnswer(answer: unknown): R
}

/** A method of `T` without the types of its parameters and its answer. */
export type AnyTabMethod<T> = Pick<TabMethod<T, never, unknown>, 'name' | 'runCarried' | 'mayRepeat'>

/** The schemas of a method, and its rule for repeating it. */
export interface MethodDescription<A extends readonly unknown[], R> {
  readonly takes: v.GenericSchema<unknown, A>
  readonly answers: v.GenericSchema<unknown, R>
  /** Which requests may be made twice; all of them by default. */
  readonly mayRepeat?: (...args: A) => boolean
  /** The answer to a repeated request, if this refusal proves that the first one succeeded. */
  readonly alreadyDone?: (refusal: ClientError) => { readonly answer: NoInfer<R> } | undefined
}

/** Makes a method from its description. `call` runs it. */
export function tabMethod<T, A extends readonly unknown[], R>(
  name: string,
  description: MethodDescription<A, R>,
  call: (target: T, ...args: A) => R | Promise<R>,
): TabMethod<T, A, R> {
  const { takes, answers, alreadyDone } = description
  const run = async (target: T, args: A, again: boolean): Promise<R> => {
    try {
      return await call(target, ...args)
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
    runCarried: async (target, carried, again) => {
      const args = v.safeParse(takes, carried)
      if (args.success) return run(target, args.output, again)
      throw new ClientError('INVALID_ARGUMENT', `a parameter is not valid: ${v.summarize(args.issues)}`)
    },
    mayRepeat: (carried) => {
      const args = v.safeParse(takes, carried)
      return !args.success || (description.mayRepeat?.(...args.output) ?? true)
    },
    readAnswer: (answer) => v.parse(answers, answer),
  }
}
