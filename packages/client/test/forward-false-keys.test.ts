// A relay that gives false keys of a contact under version 3: one that swaps only Ed25519, which the security
// code does not cover, and one whose keys the user takes for a while.
import { expect, setDefaultTimeout, test } from 'bun:test'
import {
  bytesToHex,
  decodeBase64,
  deriveIdentityKeys,
  encodeBase64,
  generateMnemonic,
  type IdentityKeys,
} from '@sotto/crypto'
import { deriveOuterKey, openOuter, signLeafCertificate } from '@sotto/crypto/version-3'
import { createKeyPackage, newSignatureKeys } from '@sotto/mls'
import { ConversationId, check, conversationEndpoints } from '@sotto/protocol'
import { failureOf } from '../../protocol/test/failure-of.ts'
import type { FetchLike } from '../src/client.ts'
import { forwardSecrecy } from '../src/forward-secrecy/entry.ts'
import { deviceOf } from '../src/module-access.ts'
import { untilVersion3 } from './forward-people.ts'
import { type Person, until } from './people.ts'
import { PeopleWorld } from './people-world.ts'

setDefaultTimeout(240_000)

const DAY_MS = 86_400_000

const world = new PeopleWorld()

/** Rewrites what the relay answers to one client. */
class LyingRelay {
  /** What stands in its answers, and what it says instead. */
  readonly lies = new Map<string, string>()
  /** What it gives out as the contact's key package. */
  keyPackage: (() => Promise<Uint8Array>) | undefined

  readonly fetch: FetchLike = async (url, init) => {
    const answer = await fetch(url, init)
    let text = await answer.text()
    for (const [truth, lie] of this.lies) text = text.replaceAll(truth, lie)
    if (this.keyPackage && url.endsWith('/claim') && answer.ok) {
      const { packages, ...rest } = JSON.parse(text)
      const made = encodeBase64(await this.keyPackage())
      text = JSON.stringify({ ...rest, packages: [{ ...packages[0], package: made }] })
    }
    return new Response(text, { status: answer.status, headers: answer.headers })
  }
}

/** The keys of an account that nobody has registered. */
const newIdentity = async (): Promise<IdentityKeys> =>
  deriveIdentityKeys(await generateMnemonic((length) => crypto.getRandomValues(new Uint8Array(length))))

const keysOf = (person: Person): IdentityKeys => deviceOf(person.client).needEngine().identity.keys

function toldTo({ heard }: Person): string[] {
  return heard.secrecy.map(({ notice }) => notice.tell)
}

async function textsOf(person: Person, contact: Person): Promise<string[]> {
  return (await person.client.messages(contact.alias)).map(({ text }) => text)
}

/** Alice, to whom the relay lies, and Bob, friends who have written to each other under version 1 alone. */
async function deceived(lieOf: (bob: IdentityKeys) => ReadonlyMap<string, string>) {
  const relay = new LyingRelay()
  const bob = await world.join('bob', { forwardSecrecy: forwardSecrecy() })
  for (const [truth, lie] of lieOf(keysOf(bob))) relay.lies.set(truth, lie)
  const alice = await world.join('alice', { forwardSecrecy: forwardSecrecy(), fetch: relay.fetch })
  await alice.befriend(bob)
  // It tells Bob nothing of version 3, so Alice begins.
  await alice.client.send(bob.alias, 'from alice')
  await bob.receives('from alice')
  await until('Alice knows that Bob has forward secrecy', async () => {
    await bob.client.send(alice.alias, 'from bob')
    return (await alice.client.conversation(bob.alias)).hasForwardSecrecy
  })
  return { relay, alice, bob }
}

for (const givesPackages of [false, true])
  test(`a relay that swaps only Ed25519${givesPackages ? ' and gives its own key packages' : ''} opens nothing, and both are told`, async () => {
    const mallory = await newIdentity()
    const { relay, alice, bob } = await deceived(
      ({ signing }) => new Map([[encodeBase64(signing.publicKey), encodeBase64(mallory.signing.publicKey)]]),
    )
    const codes = [
      alice.client.securityCode(bob.alias).displayCode,
      bob.client.securityCode(alice.alias).displayCode,
    ]
    expect(codes[0]).toBe(codes[1] ?? '')
    if (givesPackages)
      relay.keyPackage = async () => {
        const { publicKey, privateKey } = await newSignatureKeys()
        const credential = await signLeafCertificate({
          relay: new URL(world.relay.url).host,
          device: bytesToHex(crypto.getRandomValues(new Uint8Array(16))),
          account: { x25519: keysOf(bob).agreement.publicKey, ed25519: mallory.signing.publicKey },
          ...{ signaturePublicKey: publicKey, time: Date.now(), privateKey: mallory.signing.privateKey },
        })
        const leaf = { credential, signaturePublicKey: publicKey, signaturePrivateKey: privateKey }
        const life = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + DAY_MS }
        return (await createKeyPackage(leaf, life)).keyPackage
      }
    await alice.client.send(bob.alias, 'for bob alone')
    const notice = givesPackages ? 'false_handshake' : 'foreign_key_package'
    await until('Alice is told', () => toldTo(alice).includes(notice))
    if (!givesPackages) return expect(toldTo(bob)).toEqual([])
    await until('Bob is told', () => toldTo(bob).includes('false_group_info'))
    expect(await textsOf(bob, alice)).not.toContain('for bob alone')

    // What the relay has of the handshake does not open with the keys that it gave out.
    const conversationId = check(ConversationId, (await alice.client.conversation(bob.alias)).conversationId)
    const group = await deviceOf(bob.client)
      .needEngine()
      .http.call(conversationEndpoints.conversationGroup, {
        params: { conv_id: conversationId },
      })
    const sealed = decodeBase64(group.group_info ?? '')
    const key = await deriveOuterKey({
      privateKey: mallory.agreement.privateKey,
      theirPublicKey: keysOf(alice).agreement.publicKey,
      conversationId,
    })
    const sender = {
      x25519: keysOf(alice).agreement.publicKey,
      ed25519: keysOf(alice).signing.publicKey,
    }
    const { epoch } = group
    expect(
      await failureOf(openOuter({ key, conversationId, kind: 'group_info', epoch, sender, sealed })),
    ).toMatchObject({ code: 'DECRYPTION_FAILED' })
  })

test('nothing goes to former keys once the user has taken others, and all goes on with the right ones', async () => {
  const mallory = await newIdentity()
  const { relay, alice, bob } = await deceived(() => new Map())
  await untilVersion3(alice, bob)
  for (const of of ['agreement', 'signing'] as const)
    relay.lies.set(encodeBase64(keysOf(bob)[of].publicKey), encodeBase64(mallory[of].publicKey))
  await alice.client.syncFriends()
  await until('Alice sees other keys', () => alice.heard.security_violation.length > 0)
  await alice.client.renewSession(bob.alias)
  const { id } = await alice.client.send(bob.alias, 'for the other keys')
  await until('Alice is told', () => toldTo(alice).includes('foreign_key_package'))
  expect(await textsOf(bob, alice)).not.toContain('for the other keys')

  relay.lies.clear()
  await alice.client.syncFriends()
  await until('Alice sees the right keys', () => alice.heard.security_violation.length > 1)
  await alice.client.renewSession(bob.alias)
  await alice.client.send(bob.alias, 'for Bob')
  expect(await bob.receives('for Bob')).toMatchObject({ version: 3 })
  await bob.client.send(alice.alias, 'for Alice')
  expect(await alice.receives('for Alice')).toMatchObject({ version: 3 })
  await alice.sees(bob.alias, id, 'delivered')
})
