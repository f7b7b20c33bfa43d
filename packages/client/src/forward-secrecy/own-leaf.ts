// The leaf of this device: its id, its signature keys, and the certificate of the account for them.
import { bytesToHex, type IdentityKeys, type RandomBytes } from '@sotto/crypto'
import {
  type AccountKeys,
  ByteReader,
  ByteWriter,
  readLeafCertificate,
  signLeafCertificate,
} from '@sotto/crypto/version-3'
import { type LeafKeys, newSignatureKeys } from '@sotto/mls'
import { ClientError } from '../client-error.ts'
import type { SecretStates } from '../stores/secret-states.ts'

const VERSION = 1
const DEVICE_BYTES = 16

/** The leaf of this device in all its conversations. */
export interface OwnLeaf {
  /** 16 bytes in lower-case hexadecimal. */
  readonly device: string
  readonly keys: LeafKeys
}

/**
 * Opens this device's leaf, or makes and stores one. A leaf for another relay is replaced.
 * @throws ClientError `LATER_VERSION` for a leaf of a later version, which is left as it is; `STORE_FAILED`
 */
export async function openOwnLeaf(
  states: SecretStates,
  relay: string,
  identity: IdentityKeys,
  randomBytes: RandomBytes,
  now: number,
): Promise<OwnLeaf> {
  for (const device of await states.list('leaf')) {
    const state = await states.get('leaf', device)
    const keys = state instanceof Uint8Array ? readLeaf(state) : undefined
    if (keys === 'later_version')
      throw new ClientError('LATER_VERSION', 'a later version of this program has written this device’s keys')
    if (keys && readLeafCertificate(keys.credential).relay === relay) return { device, keys }
    await states.write([{ kind: 'leaf', id: device, state: undefined }])
  }
  const device = bytesToHex(randomBytes(DEVICE_BYTES))
  const { publicKey, privateKey } = await newSignatureKeys()
  const credential = await signLeafCertificate({
    ...{ relay, device, account: accountOf(identity), signaturePublicKey: publicKey, time: now },
    privateKey: identity.signing.privateKey,
  })
  const keys: LeafKeys = { credential, signaturePublicKey: publicKey, signaturePrivateKey: privateKey }
  const state = new ByteWriter().number(VERSION).bytes(credential).bytes(publicKey).bytes(privateKey).done()
  await states.write([{ kind: 'leaf', id: device, state }])
  return { device, keys }
}

/** The public identity keys of an account of this device. */
export function accountOf({ agreement, signing }: IdentityKeys): AccountKeys {
  return { x25519: agreement.publicKey, ed25519: signing.publicKey }
}

function readLeaf(state: Uint8Array): LeafKeys | 'later_version' {
  const from = new ByteReader(state)
  if (from.number() !== VERSION) return 'later_version'
  return {
    credential: from.bytes(),
    signaturePublicKey: from.bytes(),
    signaturePrivateKey: from.bytes(),
  }
}
