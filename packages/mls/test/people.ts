// Devices for the tests: leaves with certificates that are mere names, and groups of two.
import {
  addMember,
  type CheckLeaf,
  createGroup,
  createKeyPackage,
  type Group,
  joinByWelcome,
  type LeafKeys,
  newSignatureKeys,
} from '@sotto/mls'

export const everyone: CheckLeaf = () => true
export const GROUP_ID = utf8('a conversation')
export const LIFETIME = { notBefore: 1_000, notAfter: 2_000 }

/** A leaf whose certificate is a name. */
export async function leafOf(name: string): Promise<LeafKeys> {
  const { publicKey, privateKey } = await newSignatureKeys()
  return { credential: utf8(name), signaturePublicKey: publicKey, signaturePrivateKey: privateKey }
}

export interface Two {
  alice: { leaf: LeafKeys; group: Group }
  bob: { leaf: LeafKeys; group: Group }
  /** Of the epoch that both are in. */
  groupInfo: Uint8Array
  welcome: Uint8Array
  bobsPackage: Awaited<ReturnType<typeof createKeyPackage>>
}

/** Alice began a group and added Bob. */
export async function twoInAGroup(): Promise<Two> {
  const [aliceLeaf, bobLeaf] = await Promise.all([leafOf('alice'), leafOf('bob')])
  const bobsPackage = await createKeyPackage(bobLeaf, LIFETIME)
  const alone = await createGroup(aliceLeaf, GROUP_ID)
  const { group, welcome, groupInfo } = await addMember(alone, bobsPackage.keyPackage, everyone)
  const joined = await joinByWelcome(welcome, { ...bobsPackage, leaf: bobLeaf }, everyone)
  return {
    alice: { leaf: aliceLeaf, group },
    bob: { leaf: bobLeaf, group: joined },
    groupInfo,
    welcome,
    bobsPackage,
  }
}

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
