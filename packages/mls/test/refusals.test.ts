// What is refused, what a gap costs, and that used keys are gone.
import { describe, expect, test } from 'bun:test'
import {
  addMember,
  commitUpdate,
  createGroup,
  createKeyPackage,
  decodeGroup,
  encodeGroup,
  encrypt,
  forgetEpochs,
  formerEpochs,
  type Group,
  joinByWelcome,
  MAX_FORWARD_STEPS,
  MAX_OVERTAKEN_KEYS,
  open,
  readKeyPackage,
  readWelcome,
  rejoin,
} from '@sotto/mls'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { heldOf, makeGroup } from '../src/group.ts'
import { suite } from '../src/suite.ts'
import { everyone, GROUP_ID, LIFETIME, leafOf, textOf, twoInAGroup, utf8 } from './people.ts'

const none = new Uint8Array(0)
const refuses =
  (name: string) =>
  ({ credential }: { credential: Uint8Array }) =>
    textOf(credential) !== name

async function send(from: Group, count: number): Promise<{ group: Group; messages: Uint8Array[] }> {
  const messages: Uint8Array[] = []
  let group = from
  for (let sent = 0; sent < count; sent++) {
    const step = await encrypt(group, utf8(`message ${sent}`), none)
    group = step.group
    messages.push(step.message)
  }
  return { group, messages }
}

async function read(group: Group, message: Uint8Array): Promise<{ group: Group; text: string }> {
  const opened = await open(group, message, everyone)
  if (opened.kind !== 'message') throw new Error('not a message')
  return { group: opened.group, text: textOf(opened.plaintext) }
}

/** The group with its sender's ratchet moved ahead, as if it had sent as many messages. */
async function afterSending(group: Group, steps: number): Promise<Group> {
  const { state, overtaken } = heldOf((await encrypt(group, none, none)).group)
  const node = state.secretTree.leafNodes[0] ?? expect.unreachable()
  const { kdf } = await suite()
  let { secret, generation } = node.application
  for (let step = 0; step < steps; step++) {
    const info = new Uint8Array([
      0,
      32,
      14,
      ...utf8('MLS 1.0 secret'),
      4,
      0,
      0,
      generation >> 8,
      generation & 255,
    ])
    secret = await kdf.expand(secret, info, 32)
    generation++
  }
  const application = { ...node.application, secret, generation }
  const leafNodes = { ...state.secretTree.leafNodes, 0: { ...node, application } }
  return makeGroup({ state: { ...state, secretTree: { ...state.secretTree, leafNodes } }, overtaken })
}

describe('every leaf that enters is checked', () => {
  test('an added one, one in a Welcome, one in a GroupInfo, and the author of each kind of commit', async () => {
    const two = await twoInAGroup()
    const { alice, bob, bobsPackage, welcome, groupInfo } = two
    const alone = await createGroup(alice.leaf, GROUP_ID)
    const before = encodeGroup(bob.group)
    const replaces = { replaces: ({ index }: { index: number }) => index === 0 }
    const update = await commitUpdate(alice.group, { ...alice.leaf, credential: utf8('mallory') })
    const rejoined = await rejoin(groupInfo, await leafOf('mallory'), replaces, everyone)
    const stranger = await leafOf('alice')
    const attempts = [
      () => addMember(alone, bobsPackage.keyPackage, refuses('bob')),
      () => joinByWelcome(welcome, { ...bobsPackage, leaf: bob.leaf }, refuses('alice')),
      () => rejoin(groupInfo, stranger, replaces, refuses('bob')),
      () => open(bob.group, update.commit, refuses('mallory')),
      () => open(bob.group, rejoined.commit, refuses('mallory')),
      () => open(alice.group, rejoined.commit, refuses('mallory')),
    ]
    for (const attempt of attempts)
      expect(await failureOf(attempt())).toMatchObject({ name: 'MlsError', code: 'REFUSED' })
    expect(encodeGroup(bob.group)).toEqual(before)
  })

  test('a check that fails is no refusal, and nothing but true lets a leaf in', async () => {
    const { bobsPackage, alice, bob, welcome } = await twoInAGroup()
    const alone = await createGroup(alice.leaf, GROUP_ID)
    const later = addMember(alone, bobsPackage.keyPackage, () => Promise.resolve(false))
    expect(await failureOf(later)).toMatchObject({ code: 'REFUSED' })
    const failing = () => Promise.reject(new Error('the store is away'))
    for (const attempt of [
      () => addMember(alone, bobsPackage.keyPackage, failing),
      () => joinByWelcome(welcome, { ...bobsPackage, leaf: bob.leaf }, failing),
    ])
      expect(await failureOf(attempt())).toMatchObject({ name: 'MlsError', code: 'UNAVAILABLE' })
  })
})

describe('invalid input', () => {
  test('of another kind, altered, cut off, prolonged, of another group, or repeated', async () => {
    const { alice, bob, bobsPackage, welcome, groupInfo } = await twoInAGroup()
    const other = await twoInAGroup()
    const { message } = await encrypt(alice.group, utf8('once'), none)
    const { group } = await read(bob.group, message)
    const { commit } = await commitUpdate(alice.group, alice.leaf)
    const altered = message.with(message.length - 5, (message.at(-5) ?? 0) ^ 1)
    const attempts = {
      repeated: () => open(group, message, everyone),
      own: () => open(alice.group, message, everyone),
      'own commit': () => open(alice.group, commit, everyone),
      altered: () => open(bob.group, altered, everyone),
      'cut off': () => open(bob.group, message.slice(0, -1), everyone),
      prolonged: () => open(bob.group, new Uint8Array([...message, 0]), everyone),
      'another group': () => open(other.bob.group, message, everyone),
      "another group's commit": () => open(other.bob.group, commit, everyone),
      'a Welcome as a message': () => open(bob.group, welcome, everyone),
      'a message as a Welcome': () => joinByWelcome(message, { ...bobsPackage, leaf: bob.leaf }, everyone),
      "a stranger's package": () =>
        joinByWelcome(other.welcome, { ...bobsPackage, leaf: bob.leaf }, everyone),
      'a GroupInfo as a key package': () => readKeyPackage(groupInfo),
      'a lifetime that ends before it begins': () =>
        createKeyPackage(bob.leaf, { notBefore: 2, notAfter: 1 }),
      'another signature key': () => commitUpdate(alice.group, bob.leaf),
      'two leaves to replace': () => rejoin(groupInfo, alice.leaf, { replaces: () => true }, everyone),
      'a larger group': () => addMember(alice.group, bobsPackage.keyPackage, everyone),
      alone: () => createGroup(alice.leaf, GROUP_ID).then((alone) => commitUpdate(alone, alice.leaf)),
    }
    for (const [what, attempt] of Object.entries(attempts))
      expect([what, await failureOf(attempt())]).toMatchObject([what, { name: 'MlsError', code: 'INVALID' }])
    expect(() => readWelcome(message)).toThrow('not a Welcome')
  })

  test('a key package of which any byte is altered', async () => {
    const { keyPackage } = await createKeyPackage(await leafOf('bob'), LIFETIME)
    for (let at = 0; at < keyPackage.length; at += 37) {
      const altered = keyPackage.with(at, (keyPackage[at] ?? 0) ^ 4)
      expect(await failureOf(readKeyPackage(altered))).toMatchObject({ name: 'MlsError' })
    }
  })

  test('a state of another version or suite', async () => {
    const encoded = encodeGroup((await twoInAGroup()).alice.group)
    for (const at of [0, 2])
      expect(() => decodeGroup(encoded.with(at, 9))).toThrow(expect.objectContaining({ code: 'VERSION' }))
    expect(() => decodeGroup(encoded.slice(0, -1))).toThrow(expect.objectContaining({ code: 'INVALID' }))
  })
})

describe('order and gaps', () => {
  test('messages open in any order, each once', async () => {
    const { alice, bob } = await twoInAGroup()
    const { messages } = await send(alice.group, 6)
    let group = bob.group
    for (const at of [3, 0, 5, 1, 4, 2]) {
      const step = await read(decodeGroup(encodeGroup(group)), messages[at] ?? none)
      expect(step.text).toBe(`message ${at}`)
      group = step.group
    }
    for (const message of messages)
      expect(await failureOf(open(group, message, everyone))).toMatchObject({ code: 'INVALID' })
    expect(heldOf(group).overtaken).toEqual([])
  })

  test('an overtaken message that was altered changes nothing, and opens unaltered after that', async () => {
    const { alice, bob } = await twoInAGroup()
    const [first = none, second = none] = (await send(alice.group, 2)).messages
    const { group } = await read(bob.group, second)
    const altered = first.with(first.length - 20, (first.at(-20) ?? 0) ^ 1)
    expect(await failureOf(open(group, altered, everyone))).toMatchObject({ code: 'INVALID' })
    expect((await read(group, first)).text).toBe('message 0')
  })

  test('a gap as large as a mailbox is bridged with a bounded state, a larger one is refused at once', async () => {
    const { alice, bob } = await twoInAGroup()
    const far = await afterSending(alice.group, MAX_FORWARD_STEPS - 1)
    const { group: farther, message } = await encrypt(far, utf8('far'), none)
    const { group, text } = await read(bob.group, message)
    expect(text).toBe('far')
    expect(heldOf(group).overtaken).toHaveLength(MAX_OVERTAKEN_KEYS)
    expect(encodeGroup(group).length).toBeLessThan(24_000)
    const tooFar = await encrypt(farther, utf8('too far'), none)
    const refused = await failureOf(open(bob.group, tooFar.message, everyone))
    expect(refused).toMatchObject({ code: 'TOO_FAR' })
  })

  test('messages of a former epoch open until it is forgotten, also overtaken ones', async () => {
    const { alice, bob } = await twoInAGroup()
    const [first = none, second = none, third = none] = (await send(alice.group, 3)).messages
    const before = (await read(bob.group, second)).group
    const { group } = await commitUpdate(before, bob.leaf)
    expect(formerEpochs(group)).toEqual([1n])
    expect((await read(group, third)).text).toBe('message 2')
    const restored = decodeGroup(encodeGroup(group))
    expect((await read(restored, first)).text).toBe('message 0')
    const forgotten = forgetEpochs(restored, 2n)
    expect(formerEpochs(forgotten)).toEqual([])
    for (const message of [first, third])
      expect(await failureOf(open(forgotten, message, everyone))).toMatchObject({ code: 'INVALID' })
  })
})

test('an encoded state contains no key that was used, and no secret that leads to one', async () => {
  const { alice, bob } = await twoInAGroup()
  const used: Uint8Array[] = []
  const note = (group: Group) => {
    const { secretTree, keySchedule, privatePath } = heldOf(group).state
    for (const { application } of Object.values(secretTree.leafNodes)) used.push(application.secret)
    return { init: keySchedule.initSecret, leaf: privatePath.privateKeys }
  }
  const first = await encrypt(alice.group, utf8('one'), none)
  note(first.group)
  const second = await encrypt(first.group, utf8('two'), none)
  const opened = await read(bob.group, second.message)
  // Bob's key for the overtaken first message is kept until it comes. No secret of the ratchet is.
  const late = await read(opened.group, first.message)
  const ratchet = heldOf(late.group).state.secretTree.leafNodes[0]
  expect(ratchet?.application.unusedGenerations).toEqual({})
  const [sender, receiver] = [encodeGroup(second.group), encodeGroup(late.group)].map((bytes) =>
    Buffer.from(bytes),
  )
  const secret = used[0] ?? expect.unreachable()
  expect([sender?.includes(secret), receiver?.includes(secret)]).toEqual([false, false])
  const kept = heldOf(opened.group).overtaken[0] ?? expect.unreachable()
  expect(Buffer.from(encodeGroup(opened.group)).includes(kept.key)).toBe(true)
  expect(receiver?.includes(kept.key)).toBe(false)

  // A commit replaces the keys of leaf and epoch.
  const old = note(second.group)
  const { group } = await commitUpdate(second.group, alice.leaf)
  const after = Buffer.from(encodeGroup(forgetEpochs(group, 2n)))
  for (const key of [old.init, ...Object.values(old.leaf)]) expect(after.includes(key)).toBe(false)
})

test('a wrong signature is refused by the first message, a later one and an overtaken one, and leaves nothing behind', async () => {
  const { alice, bob } = await twoInAGroup()
  const { state, overtaken } = heldOf(alice.group)
  const signaturePrivateKey = crypto.getRandomValues(new Uint8Array(state.signaturePrivateKey.length))
  const forging = makeGroup({ state: { ...state, signaturePrivateKey }, overtaken })
  const { messages: forged } = await send(forging, 4)
  const { messages: honest } = await send(alice.group, 4)
  const [first, second, , fourth] = honest
  const [forgedFirst, , forgedThird, forgedFourth] = forged
  if (!first || !second || !fourth || !forgedFirst || !forgedThird || !forgedFourth)
    return expect.unreachable()
  const isRefused = async (group: Group, message: Uint8Array): Promise<void> => {
    const before = encodeGroup(group)
    expect(await failureOf(open(group, message, everyone))).toMatchObject({ code: 'INVALID' })
    expect(encodeGroup(group)).toEqual(before)
  }
  await isRefused(bob.group, forgedFirst)
  const afterFirst = (await read(bob.group, first)).group
  await isRefused(afterFirst, forgedThird)
  await isRefused(afterFirst, forgedFourth)
  const afterFourth = (await read(afterFirst, fourth)).group
  await isRefused(afterFourth, forgedThird)
  expect((await read(afterFourth, second)).text).toBe('message 1')
})
