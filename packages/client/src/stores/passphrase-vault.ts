// A vault that opens with a passphrase. A separate entry of the package, so that only its users load scrypt.
import { decodeBase64, encodeBase64 } from '@sotto/crypto'
import { derivePassphraseKey } from '@sotto/crypto/passphrase-key'
import { ClientError } from '../client-error.ts'
import { isAllowedCost, PASSPHRASE_COST } from './passphrase-cost.ts'
import type { VaultRecord } from './records.ts'
import { SealedStore } from './sealed-store.ts'
import { useSealing } from './secrets.ts'
import { otherVault, unwrapKey, type Vault, wrapKey } from './vault.ts'

export type { Vault } from './vault.ts'

const SALT_BYTES = 32
const MAX_SALT_BYTES = 64

type PassphraseRecord = Extract<VaultRecord, { kind: 'passphrase' }>

/**
 * A vault that opens with a passphrase, for the option `secrets`. The data key is wrapped with AES-256-GCM
 * under a key that scrypt derives from the passphrase (N = 2^17, r = 8, p = 1; RFC 7914). So each guess costs
 * an attacker who has a copy of the store 128 MiB and half a second. A weak passphrase is still guessed:
 * choose one of several random words. A user who forgets it has to delete the store and recover the account
 * with the recovery phrase; the messages are lost.
 */
export function passphraseVault(): Vault {
  useSealing(SealedStore.open)
  return {
    kind: 'passphrase',
    needsPassphrase: true,
    async wrap(input) {
      const salt = input.randomBytes(SALT_BYTES)
      const record = { kind: 'passphrase', ...PASSPHRASE_COST, salt: encodeBase64(salt) } as const
      const key = await derivePassphraseKey({
        passphrase: given(input.passphrase),
        salt,
        cost: PASSPHRASE_COST,
      })
      try {
        return { ...record, wrappedKey: await wrapKey(key, input, record) }
      } finally {
        key.fill(0)
      }
    },
    async unwrap(record, passphrase) {
      if (record.kind !== 'passphrase') throw otherVault(record)
      const { n, r, p } = record
      const salt = checkedSalt(record)
      const key = await derivePassphraseKey({ passphrase: given(passphrase), salt, cost: { n, r, p } })
      try {
        return await unwrapKey(key, record, 'WRONG_PASSPHRASE')
      } finally {
        key.fill(0)
      }
    },
  }
}

function given(passphrase: string | undefined): string {
  if (passphrase === undefined || passphrase === '')
    throw new ClientError('INVALID_ARGUMENT', 'a passphrase is needed')
  return passphrase
}

/** Checks that the record's cost is within the bounds, and returns its salt. */
function checkedSalt({ n, r, p, salt }: PassphraseRecord): Uint8Array {
  if (!isAllowedCost({ n, r, p })) throw damaged()
  try {
    const bytes = decodeBase64(salt)
    if (bytes.length >= SALT_BYTES && bytes.length <= MAX_SALT_BYTES) return bytes
  } catch (cause) {
    throw damaged(cause)
  }
  throw damaged()
}

function damaged(cause?: unknown): ClientError {
  return new ClientError('STORE_FAILED', 'the vault record was altered: this program never wrote it', {
    cause,
  })
}
