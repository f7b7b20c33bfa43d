// The basic story: a group begins, messages go both ways, keys are renewed, a device rejoins.
import { expect, test } from 'bun:test'
import {
  commitUpdate,
  decodeGroup,
  encodeGroup,
  encrypt,
  epochOf,
  exportSecret,
  type Group,
  groupIdOf,
  members,
  open,
  ownMember,
  readKeyPackage,
  readWelcome,
  rejoin,
} from '@sotto/mls'
import { everyone, GROUP_ID, LIFETIME, leafOf, textOf, twoInAGroup, utf8 } from './people.ts'

const aad = utf8('which message this is')

async function say(from: Group, to: Group, text: string): Promise<[Group, Group]> {
  const { group, message } = await encrypt(from, utf8(text), aad)
  const opened = await open(to, message, everyone)
  if (opened.kind !== 'message') throw new Error('not a message')
  expect(textOf(opened.plaintext)).toBe(text)
  expect(opened.authenticatedData).toEqual(aad)
  expect(opened.sender).toEqual(ownMember(from) ?? expect.unreachable())
  return [group, opened.group]
}

test('a key package says whose it is and how long it is valid, and a Welcome names it', async () => {
  const { bob, bobsPackage, welcome } = await twoInAGroup()
  expect(await readKeyPackage(bobsPackage.keyPackage)).toEqual({
    credential: utf8('bob'),
    signaturePublicKey: new Uint8Array(bob.leaf.signaturePublicKey),
    reference: bobsPackage.reference,
    ...LIFETIME,
  })
  expect(readWelcome(welcome).references).toEqual([bobsPackage.reference])
})

test('two devices are in one group and speak both ways, before and after a commit of each', async () => {
  const { alice, bob } = await twoInAGroup()
  let [a, b] = [alice.group, bob.group]
  expect(members(a)).toEqual(members(b))
  expect(groupIdOf(b)).toEqual(GROUP_ID)
  ;[a, b] = await say(a, b, 'one')
  ;[b, a] = await say(b, a, 'two')

  const byBob = await commitUpdate(b, bob.leaf)
  const seenByAlice = await open(a, byBob.commit, everyone)
  if (seenByAlice.kind !== 'commit') throw new Error('not a commit')
  expect(seenByAlice).toMatchObject({ isExternal: false, isRemoved: false })
  expect(textOf(seenByAlice.sender.credential)).toBe('bob')
  ;[a, b] = [seenByAlice.group, byBob.group]
  expect([epochOf(a), epochOf(b)]).toEqual([2n, 2n])

  const renewed = { ...alice.leaf, credential: utf8('alice, certified anew') }
  const byAlice = await commitUpdate(a, renewed)
  const seenByBob = await open(b, byAlice.commit, everyone)
  if (seenByBob.kind !== 'commit') throw new Error('not a commit')
  expect(seenByBob.before.map(({ credential }) => textOf(credential))).toEqual(['alice', 'bob'])
  expect(seenByBob.after.map(({ credential }) => textOf(credential))).toEqual([
    'alice, certified anew',
    'bob',
  ])
  ;[a, b] = [byAlice.group, seenByBob.group]
  ;[a, b] = await say(a, b, 'three')
  ;[b, a] = await say(b, a, 'four')
  const exported = await Promise.all([a, b].map((group) => exportSecret(group, 'calls', aad, 32)))
  expect(exported[0]).toEqual(exported[1] ?? expect.unreachable())
})

test('a stored group goes on where it was', async () => {
  const { alice, bob } = await twoInAGroup()
  let [a, b] = await say(alice.group, bob.group, 'before')
  const restored = [a, b].map((group) => decodeGroup(encodeGroup(group)))
  expect(encodeGroup(restored[0] ?? a)).toEqual(encodeGroup(a))
  ;[a, b] = await say(restored[0] ?? a, restored[1] ?? b, 'after')
  const { group, commit } = await commitUpdate(decodeGroup(encodeGroup(b)), bob.leaf)
  const seen = await open(decodeGroup(encodeGroup(a)), commit, everyone)
  await say(group, seen.group, 'after a commit')
})

for (const name of ['alice', 'bob'] as const) {
  test(`${name} lost everything and rejoins from the GroupInfo, in place of the former leaf`, async () => {
    const two = await twoInAGroup()
    const other = name === 'alice' ? 'bob' : 'alice'
    const leaf = await leafOf(name)
    const replaces = { replaces: ({ credential }: { credential: Uint8Array }) => textOf(credential) === name }
    const rejoined = await rejoin(two.groupInfo, leaf, replaces, everyone)

    const seen = await open(two[other].group, rejoined.commit, everyone)
    if (seen.kind !== 'commit') throw new Error('not a commit')
    expect(seen).toMatchObject({ isExternal: true, isRemoved: false })
    expect(seen.sender.signaturePublicKey).toEqual(new Uint8Array(leaf.signaturePublicKey))
    expect(seen.after.map(({ credential }) => textOf(credential)).toSorted()).toEqual(['alice', 'bob'])
    expect(members(seen.group)).toEqual(members(rejoined.group))
    const [a, b] = await say(rejoined.group, seen.group, 'I am back')
    await say(b, a, 'welcome')

    const displaced = await open(two[name].group, rejoined.commit, everyone)
    expect(displaced).toMatchObject({
      kind: 'commit',
      isExternal: true,
      isRemoved: true,
      sender: seen.sender,
    })
    expect(ownMember(displaced.group)).toBeUndefined()
    expect(decodeGroup(encodeGroup(displaced.group))).toBeDefined()
  })
}

test('with no leaf to replace, a rejoin joins beside the others', async () => {
  const two = await twoInAGroup()
  const rejoined = await rejoin(two.groupInfo, await leafOf('carol'), { replaces: () => false }, everyone)
  const seen = await open(two.alice.group, rejoined.commit, everyone)
  if (seen.kind !== 'commit') throw new Error('not a commit')
  expect(seen.after).toHaveLength(3)
  await say(rejoined.group, seen.group, 'hello')
})

test('a rejoin continues from the GroupInfo of every kind of commit', async () => {
  const { alice, bob } = await twoInAGroup()
  const update = await commitUpdate(alice.group, alice.leaf)
  const b = (await open(bob.group, update.commit, everyone)).group
  const again = await rejoin(update.groupInfo, alice.leaf, { replaces: ({ index }) => index === 0 }, everyone)
  const b2 = (await open(b, again.commit, everyone)).group
  const more = await rejoin(again.groupInfo, bob.leaf, { replaces: ({ index }) => index === 1 }, everyone)
  const a3 = (await open(again.group, more.commit, everyone)).group
  await say(a3, more.group, 'after three')
  await expect(epochOf(b2)).toBe(3n)
})
