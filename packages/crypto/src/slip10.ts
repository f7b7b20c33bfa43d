// Hierarchical keys on the ed25519 curve, every level hardened (SLIP-0010).
import { type Bytes, checkBytes, concatBytes, encodeUtf8 } from './bytes.ts'
import { CryptoError } from './crypto-error.ts'
import { withSecret } from './primitives.ts'
import type { Primitives } from './primitives-interface.ts'

const HARDENED = 0x8000_0000
const MASTER_KEY = encodeUtf8('ed25519 seed')

/** A node of the tree: 32 bytes of private key, 32 bytes of chain code. Both are secret. */
export interface Slip10Node {
  readonly privateKey: Bytes
  readonly chainCode: Bytes
}

/**
 * The node at `path` under `seed` (16 to 64 bytes; SLIP-0010, curve "ed25519"). The path is the levels'
 * numbers without the hardening bit, such as `[44, 0, 0, 0, 0]`; SLIP-0010 defines only hardened children on
 * this curve. Rejects with `INVALID_PATH`, or `INVALID_ARGUMENT` for the seed.
 */
export async function deriveEd25519Path(seed: Uint8Array, path: readonly number[]): Promise<Slip10Node> {
  checkBytes(seed, 'seed')
  if (seed.length < 16 || seed.length > 64)
    throw new CryptoError('INVALID_ARGUMENT', 'seed must be 16 to 64 bytes')
  if (!Array.isArray(path) || !path.every(isLevel)) throw invalidPath()

  return withSecret(seed, async ({ hmacSha512 }, secret) => {
    let node = split(await hmacSha512(MASTER_KEY, secret))
    for (const level of path) node = await child(hmacSha512, node, level)
    return node
  })
}

/**
 * The levels of a path in text, such as `m/44'/0'/0'/0'/0'`. A text with a level that is not marked as
 * hardened is refused, not silently hardened. Throws `INVALID_PATH`.
 */
export function parseEd25519Path(path: string): number[] {
  const [root, ...levels] = path.split('/')
  if (root !== 'm') throw invalidPath()
  return levels.map((level) => {
    if (!/^(0|[1-9][0-9]{0,9})'$/.test(level)) throw invalidPath()
    return Number(level.slice(0, -1))
  })
}

async function child(
  hmacSha512: Primitives['hmacSha512'],
  { privateKey, chainCode }: Slip10Node,
  level: number,
): Promise<Slip10Node> {
  const data = new Uint8Array(1 + 32 + 4)
  data.set(privateKey, 1)
  new DataView(data.buffer).setUint32(33, HARDENED + level)
  return split(await hmacSha512(chainCode, data))
}

function split(digest: Uint8Array): Slip10Node {
  return { privateKey: concatBytes(digest.subarray(0, 32)), chainCode: concatBytes(digest.subarray(32)) }
}

function isLevel(level: unknown): boolean {
  return typeof level === 'number' && Number.isInteger(level) && level >= 0 && level < HARDENED
}

function invalidPath(): CryptoError {
  return new CryptoError('INVALID_PATH', 'not a derivation path with every level hardened')
}
