// What a decoder promises: it returns, or throws its own kind of error, whatever it is given.
import { isDeepStrictEqual } from 'node:util'
import { type Draws, Finding } from './inputs.ts'

/** A decoder, or a group of decoders that take the same input. */
export interface Decoder {
  readonly name: string
  /** How often it is chosen, compared with the others; 4 if undefined. Slow ones are chosen more rarely. */
  readonly weight?: number
  /** Makes an input. */
  readonly input: (draws: Draws) => unknown
  /** Decodes it. @throws any error that the decoder must not throw, or Finding if a law is broken */
  readonly decode: (input: never) => void | Promise<void>
}

/** Defines a decoder, so that its input and what decodes it have one type. */
export function decoder<T>(
  name: string,
  input: (draws: Draws) => T,
  decode: (input: T) => void | Promise<void>,
  weight?: number,
): Decoder {
  return { name, input, decode, ...(weight === undefined ? {} : { weight }) }
}

type ErrorClass = abstract new (...given: never) => Error

/** @returns what `work` returns; undefined if it throws its own kind of error */
export function orRefused<T>(own: ErrorClass, work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof own) return undefined
    throw error
  }
}

/** Like {@link orRefused}, for a promise. */
export async function orRefusedLater<T>(own: ErrorClass, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof own) return undefined
    throw error
  }
}

/** @throws Finding if the two differ */
export function expectSame(law: string, one: unknown, other: unknown): void {
  if (!isDeepStrictEqual(one, other))
    throw new Finding(`${law}: ${Bun.inspect(one)} and ${Bun.inspect(other)}`)
}

/** @throws Finding if it is false */
export function expectTrue(law: string, isTrue: boolean): void {
  if (!isTrue) throw new Finding(law)
}
