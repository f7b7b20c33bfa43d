// The vectors of one conversation: Bob reads them, and refuses an altered copy of each message.
import { expect, test } from 'bun:test'
import {
  CALL_EXPORTER_LABEL,
  CALL_SECRET_BYTES,
  decodeBinding,
  openOuter,
  unpad,
  verifyLeafCertificate,
} from '@sotto/crypto/version-3'
import {
  type CheckLeaf,
  epochOf,
  exportSecret,
  type Group,
  groupIdOf,
  joinByWelcome,
  type LeafKeys,
  members,
  open,
  ownMember,
  readKeyPackage,
  readWelcome,
  rejoin,
} from '@sotto/mls'
import { failureOf } from '../../protocol/test/failure-of.ts'
import {
  checkGroupInfoByHand,
  checkKeyPackageByHand,
  commitByHand,
  exportByHand,
  type HandEpoch,
  joinByHand,
  openByHand,
} from './by-hand.ts'
import {
  ALICE,
  BOB,
  CONVERSATION_ID,
  type EpochVector,
  type GroupInfoVector,
  type HandshakeVector,
  type MessageVector,
  OUTER_KEY_HEX,
  readConversation,
} from './conversation.ts'
import { hex, toHex } from './vectors.ts'

const { relay, group_id_hex, bob, steps } = await readConversation()
const leaf: LeafKeys = {
  credential: hex(bob.certificate_hex),
  signaturePublicKey: hex(bob.signature_public_hex),
  signaturePrivateKey: hex(bob.signature_private_hex),
}
/** Later than all certificates. */
const NOW_MS = 1_900_000_000_000
const keyPackage = hex(bob.key_package_hex)
// What `createKeyPackage` gives: version 1 and the two seeds.
const secrets = hex(`01${bob.init_private_hex}${bob.leaf_private_hex}`)

/** Whether a leaf is certified by Alice or by Bob, as a client checks it. */
const isTheirs: CheckLeaf = async ({ credential, signaturePublicKey }) => {
  const expected = { relay, signaturePublicKey, now: NOW_MS }
  const answers = [ALICE, BOB].map((account) => verifyLeafCertificate(credential, { ...expected, account }))
  return (await Promise.all(answers)).includes(true)
}

/** Reads one step; the group after it, if the step brings one. Rejects if the bytes are not as they were. */
async function read(
  group: Group | undefined,
  { kind }: { kind: (typeof steps)[number]['kind'] },
  bytes: Uint8Array,
) {
  if (kind === 'welcome')
    return { group: await joinByWelcome(bytes, { keyPackage, secrets, leaf }, isTheirs) }
  if (kind === 'group_info') {
    // To read a GroupInfo is to rejoin from it. Bob only tries: what he gets goes nowhere.
    await rejoin(bytes, leaf, { replaces: ({ index }) => index === 1 }, isTheirs)
    return { group }
  }
  if (group === undefined) throw new Error('no Welcome is before this step')
  return open(group, bytes, isTheirs)
}

/** Bob's groups before each step. */
async function* replay() {
  let group: Group | undefined
  for (const step of steps) {
    yield { step, group }
    group = (await read(group, step, hex(step.message_hex))).group
  }
}

test("Bob's key package is his, and the Welcome is for it", async () => {
  expect(await readKeyPackage(keyPackage)).toEqual({
    credential: hex(bob.certificate_hex),
    signaturePublicKey: hex(bob.signature_public_hex),
    reference: hex(bob.reference_hex),
    notBefore: bob.not_before,
    notAfter: bob.not_after,
  })
  expect(readWelcome(hex(steps[0]?.message_hex ?? '')).references.map(toHex)).toEqual([bob.reference_hex])
})

test('Bob reads the conversation', async () => {
  for await (const { step, group } of replay()) {
    const bytes = hex(step.message_hex)
    if (step.kind !== 'message') await expectSealed(step, bytes)
    const found = await read(group, step, bytes)
    if (step.kind === 'message') await expectMessage(step, found)
    else if (step.kind !== 'group_info') await expectEpoch(step.then, found.group)
    if (step.kind === 'commit' || step.kind === 'rejoin')
      expect(found).toMatchObject({
        kind: 'commit',
        isExternal: step.kind === 'rejoin',
        isRemoved: false,
        sender: { index: 0 },
      })
  }
  expect(steps.map(({ kind }) => kind)).toEqual([
    'welcome',
    'message',
    'message',
    'message',
    'commit',
    'message',
    'message',
    'group_info',
    'rejoin',
    'message',
  ])
})

async function expectSealed(step: HandshakeVector | GroupInfoVector, bytes: Uint8Array) {
  const { kind, sealed_epoch: epoch, sealed_hex } = step
  const of = { key: hex(OUTER_KEY_HEX), conversationId: CONVERSATION_ID, kind, epoch, sender: ALICE }
  expect(await openOuter({ ...of, sealed: hex(sealed_hex) })).toEqual(new Uint8Array(bytes))
}

async function expectMessage(step: MessageVector, found: Awaited<ReturnType<typeof read>>) {
  if (!('plaintext' in found)) throw new Error('not a message')
  const { plaintext, authenticatedData, sender } = found
  expect([toHex(plaintext), toHex(authenticatedData), sender.index]).toEqual([
    step.plaintext_hex,
    step.authenticated_data_hex,
    0,
  ])
  unpad(plaintext)
  const context = {
    conversationId: CONVERSATION_ID,
    messageId: step.message_id,
    sender: ALICE,
    recipient: BOB,
  }
  await decodeBinding(authenticatedData, context)
}

async function expectEpoch(then: EpochVector, group: Group | undefined) {
  if (group === undefined) throw new Error('no group')
  expect(toHex(groupIdOf(group))).toBe(group_id_hex)
  expect(ownMember(group)?.index).toBe(1)
  const exported = await exportSecret(group, CALL_EXPORTER_LABEL, new Uint8Array(0), CALL_SECRET_BYTES)
  expect({
    epoch: Number(epochOf(group)),
    exported_hex: toHex(exported),
    members: members(group).map(({ index, credential, signaturePublicKey }) => ({
      leaf: index,
      certificate_hex: toHex(credential),
      signature_public_hex: toHex(signaturePublicKey),
    })),
  }).toEqual({ ...then, members: [...then.members] })
}

test('a reader of the formulas of RFC 9420 alone reads the same', () => {
  const keys = { keyPackage, initSeed: hex(bob.init_private_hex), leafSeed: hex(bob.leaf_private_hex) }
  expect(checkKeyPackageByHand(keys)).toEqual([bob.not_before, bob.not_after])
  const epochs: HandEpoch[] = []
  for (const step of steps) {
    const bytes = hex(step.message_hex)
    const present = epochs.at(-1)
    if (step.kind === 'message') {
      const epoch = epochs.find((known) => known.epoch === step.epoch) ?? expect.unreachable()
      const { authenticatedData, plaintext } = openByHand(bytes, epoch)
      expect([toHex(authenticatedData), toHex(plaintext)]).toEqual([
        step.authenticated_data_hex,
        step.plaintext_hex,
      ])
    } else if (step.kind === 'welcome') epochs.push(joinByHand(bytes, keys))
    else if (step.kind === 'group_info') checkGroupInfoByHand(bytes, present ?? expect.unreachable())
    else epochs.push(commitByHand(bytes, present ?? expect.unreachable(), keys))
    const entered = epochs.at(-1)
    if (!('then' in step) || entered === undefined) continue
    expect({
      epoch: entered.epoch,
      exported_hex: toHex(exportByHand(entered, CALL_EXPORTER_LABEL)),
      members: entered.tree.leaves.map(({ identity, signatureKey }, leaf) => ({
        leaf,
        certificate_hex: toHex(identity),
        signature_public_hex: toHex(signatureKey),
      })),
    }).toEqual({ ...step.then, members: [...step.then.members] })
    expect(toHex(entered.groupId)).toBe(group_id_hex)
  }
  expect(epochs.map(({ epoch }) => epoch)).toEqual([1, 2, 3])
})

test('an altered copy of each message is refused, wherever one bit is flipped', async () => {
  const places = 25
  for await (const { step, group } of replay()) {
    const { length } = hex(step.message_hex)
    for (let place = 0; place < places; place += 1) {
      const at = Math.round((place / (places - 1)) * (length - 1))
      const altered = hex(step.message_hex)
      altered[at] = (altered[at] ?? 0) ^ (1 << (place % 8))
      const refused = await failureOf(read(group, step, altered))
      expect([step.what, at, refused]).toMatchObject([step.what, at, { name: 'MlsError', code: 'INVALID' }])
    }
  }
})
