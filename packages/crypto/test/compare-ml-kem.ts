// What two implementations of ML-KEM-768 must agree on. It runs in pages, too: it knows no test runner.
import { bytesToHex } from '../src/hex.ts'
import { ML_KEM_SEED_BYTES, type MlKem768 } from '../src/ml-kem-interface.ts'

/**
 * Compares two implementations on random seeds: the public key, the secrets that each sends and both open,
 * and the secrets that both make of an altered ciphertext (FIPS 203, algorithm 18).
 * @throws Error with the first round that differs, and what differs in it
 */
export async function compareMlKem(one: MlKem768, other: MlKem768, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const seed = crypto.getRandomValues(new Uint8Array(ML_KEM_SEED_BYTES))
    const expectSame = (what: string, is: Uint8Array, shouldBe: Uint8Array): void => {
      if (bytesToHex(is) !== bytesToHex(shouldBe))
        throw new Error(`round ${round}, seed ${bytesToHex(seed)}: the ${what} differs`)
    }
    const publicKey = await one.publicKey(seed)
    expectSame('public key', await other.publicKey(seed), publicKey)
    for (const sender of [one, other]) {
      const { sharedSecret, ciphertext } = await sender.encapsulate(publicKey)
      for (const reader of [one, other])
        expectSame(
          `secret that ${reader.implementation} opens from ${sender.implementation}`,
          await reader.decapsulate(seed, ciphertext),
          sharedSecret,
        )
      const at = (round * 7) % ciphertext.length
      ciphertext[at] = (ciphertext[at] ?? 0) ^ 1
      const rejected = await one.decapsulate(seed, ciphertext)
      expectSame('secret of an altered ciphertext', await other.decapsulate(seed, ciphertext), rejected)
      if (bytesToHex(rejected) === bytesToHex(sharedSecret))
        throw new Error(`round ${round}: an altered ciphertext gives the secret that was sent`)
    }
  }
}
