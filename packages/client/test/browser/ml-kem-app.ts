// ML-KEM-768 and X-Wing in a page, by the implementations that the library chooses there.
import { chooseMlKem, mlKem768 } from '@sotto/crypto/ml-kem'
import { primitives } from '@sotto/crypto/primitives'
import { compareMlKem } from '../../../crypto/test/compare-ml-kem.ts'
import { computeXWing, type XWingResult, type XWingVector } from '../../../mls/test/compute-x-wing.ts'

/** What the page found. */
export interface MlKemFindings {
  /** The implementation of ML-KEM that the library chose. */
  readonly implementation: string
  /** How often the page has asked WebCrypto for its ML-KEM since it was opened. */
  readonly asked: { readonly encapsulateBits: number; readonly decapsulateBits: number }
  /** What it computed from X-Wing's vectors. */
  readonly xWing: readonly XWingResult[]
}

const asked = { encapsulateBits: 0, decapsulateBits: 0 }

/** Counts how often a method of WebCrypto is called, if the page has it. */
function count(name: keyof typeof asked): void {
  const subtle: object | undefined = globalThis.crypto.subtle
  const method: unknown = subtle && Reflect.get(subtle, name)
  if (typeof method !== 'function') return
  Reflect.set(subtle, name, (...given: unknown[]) => {
    asked[name] += 1
    return Reflect.apply(method, subtle, given)
  })
}

count('encapsulateBits')
count('decapsulateBits')

async function mlKemFindings(vectors: readonly XWingVector[]): Promise<MlKemFindings> {
  const [chosen, mlKem] = await Promise.all([primitives(), mlKem768()])
  const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))
  const xWing = await computeXWing({ primitives: chosen, mlKem, randomBytes }, vectors)
  return { implementation: mlKem.implementation, asked, xWing }
}

/** Compares the chosen implementation with noble's. Rejects with what differs. */
async function compareWithNoble(rounds: number): Promise<void> {
  await compareMlKem(await mlKem768(), await chooseMlKem(undefined), rounds)
}

Object.assign(globalThis, { mlKemFindings, compareWithNoble, isReady: true })
