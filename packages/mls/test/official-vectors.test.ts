// The official vectors of MLS, run on the library with our hash, KDF and signatures. HPKE is the library's
// own, because no official vector has our suite. Its parts are imported by file: it exports only its entry.
import { expect, test } from 'bun:test'
import { chooseMlKem } from '@sotto/crypto/ml-kem'
import { choosePrimitives } from '@sotto/crypto/primitives'
import {
  type CiphersuiteImpl,
  contentTypes,
  decode,
  defaultCryptoProvider,
  encode,
  joinGroup,
  type MlsMessage,
  mlsMessageDecoder,
  mlsMessageEncoder,
  processMessage,
} from 'ts-mls'
import { refhash } from '../node_modules/ts-mls/dist/src/crypto/hash.js'
import { decryptWithLabel } from '../node_modules/ts-mls/dist/src/crypto/hpke.js'
import {
  deriveSecret,
  deriveTreeSecret,
  expandWithLabel,
} from '../node_modules/ts-mls/dist/src/crypto/kdf.js'
import { signWithLabel, verifyWithLabel } from '../node_modules/ts-mls/dist/src/crypto/signature.js'
import { groupContextEncoder } from '../node_modules/ts-mls/dist/src/groupContext.js'
import { initializeEpoch, mlsExporter } from '../node_modules/ts-mls/dist/src/keySchedule.js'
import { unprotectPrivateMessage } from '../node_modules/ts-mls/dist/src/messageProtection.js'
import { unprotectPublicMessage } from '../node_modules/ts-mls/dist/src/messageProtectionPublic.js'
import { verifyParentHashes } from '../node_modules/ts-mls/dist/src/parentHash.js'
import { ratchetTreeDecoder, resolution } from '../node_modules/ts-mls/dist/src/ratchetTree.js'
import { createSecretTree, ratchetToGeneration } from '../node_modules/ts-mls/dist/src/secretTree.js'
import { expandSenderDataKey, expandSenderDataNonce } from '../node_modules/ts-mls/dist/src/sender.js'
import { treeHash } from '../node_modules/ts-mls/dist/src/treeHash.js'
import * as treeMath from '../node_modules/ts-mls/dist/src/treemath.js'
import { makeSuite } from '../src/suite.ts'
import { hex, readVectors, toHex } from './vectors.ts'

type Texts = Record<string, string>
type Given = Texts & { generation: number; length: number }
interface Passive extends Texts {
  external_psks: never
  epochs: never
}
interface Vectors {
  'crypto-basics': Record<string, Given>[]
  'key-schedule': { group_id: string; initial_init_secret: string; epochs: (Texts & { exporter: never })[] }[]
  'secret-tree': {
    encryption_secret: string
    sender_data: Texts
    leaves: (Texts & { generation: number })[][]
  }[]
  'tree-math': { n_leaves: number; root: number; left: Nodes; right: Nodes; parent: Nodes; sibling: Nodes }[]
  'message-protection': (Texts & { epoch: never })[]
  'tree-validation': { tree: string; tree_hashes: string[]; resolutions: number[][] }[]
  messages: Texts[]
  'passive-client-welcome': Passive[]
  'passive-client-handling-commit': Passive[]
  'passive-client-random': Passive[]
}
type Nodes = (number | null)[]

const vectors = await readVectors<Vectors>('mls-implementations')
const ours = makeSuite(await choosePrimitives(undefined), await chooseMlKem(undefined))
const theirs = await defaultCryptoProvider.getCiphersuiteImpl(1)
const suite: CiphersuiteImpl = { ...theirs, kdf: ours.kdf, hash: ours.hash, signature: ours.signature }

test('crypto-basics', async () => {
  for (const vector of vectors['crypto-basics']) {
    const of = (name: string): Given => vector[name] ?? expect.unreachable()
    const derived = of('derive_secret')
    expect(toHex(await deriveSecret(hex(derived.secret ?? ''), derived.label ?? '', suite.kdf))).toBe(
      derived.out ?? '',
    )
    const tree = of('derive_tree_secret')
    const treeSecret = await deriveTreeSecret(
      hex(tree.secret ?? ''),
      tree.label ?? '',
      tree.generation,
      tree.length,
      suite.kdf,
    )
    expect(toHex(treeSecret)).toBe(tree.out ?? '')
    const expanded = of('expand_with_label')
    const label = expanded.label ?? ''
    expect(
      toHex(
        await expandWithLabel(
          hex(expanded.secret ?? ''),
          label,
          hex(expanded.context ?? ''),
          expanded.length,
          suite.kdf,
        ),
      ),
    ).toBe(expanded.out ?? '')
    const reference = of('ref_hash')
    expect(toHex(await refhash(reference.label ?? '', hex(reference.value ?? ''), suite.hash))).toBe(
      reference.out ?? '',
    )
    const signed = of('sign_with_label')
    const [key, content] = [hex(signed.pub ?? ''), hex(signed.content ?? '')]
    const verify = (signature: Uint8Array) =>
      verifyWithLabel(key, signed.label ?? '', content, signature, suite.signature)
    expect(await verify(hex(signed.signature ?? ''))).toBe(true)
    expect(
      await verify(await signWithLabel(hex(signed.priv ?? ''), signed.label ?? '', content, suite.signature)),
    ).toBe(true)
    const sealed = of('encrypt_with_label')
    const opened = await decryptWithLabel(
      await suite.hpke.importPrivateKey(hex(sealed.priv ?? '')),
      sealed.label ?? '',
      hex(sealed.context ?? ''),
      hex(sealed.kem_output ?? ''),
      hex(sealed.ciphertext ?? ''),
      suite.hpke,
    )
    expect(toHex(opened)).toBe(sealed.plaintext ?? '')
  }
})

test('key-schedule', async () => {
  for (const { group_id, initial_init_secret, epochs } of vectors['key-schedule']) {
    let init = hex(initial_init_secret)
    for (const [epoch, given] of epochs.entries()) {
      const of = (name: string) => hex(given[name] ?? '')
      const context = {
        version: 1 as const,
        cipherSuite: 1,
        groupId: hex(group_id),
        epoch: BigInt(epoch),
        treeHash: of('tree_hash'),
        confirmedTranscriptHash: of('confirmed_transcript_hash'),
        extensions: [],
      }
      expect(toHex(encode(groupContextEncoder, context))).toBe(given.group_context ?? '')
      const made = await initializeEpoch(init, of('commit_secret'), context, of('psk_secret'), suite.kdf)
      const secrets = {
        ...made.keySchedule,
        joinerSecret: made.joinerSecret,
        welcomeSecret: made.welcomeSecret,
        encryptionSecret: made.encryptionSecret,
      }
      for (const [name, secret] of Object.entries(secrets)) {
        const theirName = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
        expect(toHex(secret)).toBe(given[theirName] ?? name)
      }
      const exporter: { label: string; context: string; length: number; secret: string } = given.exporter
      const exported = await mlsExporter(
        secrets.exporterSecret,
        exporter.label,
        hex(exporter.context),
        exporter.length,
        suite,
      )
      expect(toHex(exported)).toBe(exporter.secret)
      init = new Uint8Array(secrets.initSecret)
    }
  }
})

test('secret-tree', async () => {
  const config = { retainKeysForGenerations: 0, retainKeysForEpochs: 1, maximumForwardRatchetSteps: 10_000 }
  for (const { encryption_secret, sender_data, leaves } of vectors['secret-tree']) {
    const [secret, ciphertext] = [
      hex(sender_data.sender_data_secret ?? ''),
      hex(sender_data.ciphertext ?? ''),
    ]
    expect(toHex(await expandSenderDataKey(suite, secret, ciphertext))).toBe(sender_data.key ?? '')
    expect(toHex(await expandSenderDataNonce(suite, secret, ciphertext))).toBe(sender_data.nonce ?? '')
    let tree = createSecretTree(leaves.length, hex(encryption_secret))
    for (const [leafIndex, generations] of leaves.entries()) {
      for (const given of generations) {
        for (const kind of ['application', 'commit'] as const) {
          const senderData = { leafIndex, generation: given.generation, reuseGuard: noGuard() }
          const step = await ratchetToGeneration(tree, senderData, contentTypes[kind], config, suite)
          const name = kind === 'commit' ? 'handshake' : kind
          expect(toHex(step.key)).toBe(given[`${name}_key`] ?? '')
          expect(toHex(step.nonce)).toBe(given[`${name}_nonce`] ?? '')
          tree = step.newTree
        }
      }
    }
  }
})

test('tree-math', () => {
  for (const { n_leaves, root, left, right, parent, sibling } of vectors['tree-math']) {
    expect(treeMath.root(n_leaves)).toBe(treeMath.toNodeIndex(root))
    for (const [at, node] of left.entries()) {
      const index = treeMath.toNodeIndex(at)
      if (node === null) continue
      expect<number>(treeMath.left(index)).toBe(node)
      expect<number>(treeMath.right(index)).toBe(right[at] ?? -1)
    }
    for (const [at, node] of parent.entries()) {
      if (node === null) continue
      expect<number>(treeMath.parent(treeMath.toNodeIndex(at), n_leaves)).toBe(node)
      expect<number>(treeMath.sibling(treeMath.toNodeIndex(at), n_leaves)).toBe(sibling[at] ?? -1)
    }
  }
})

test('message-protection', async () => {
  for (const given of vectors['message-protection']) {
    const of = (name: string) => hex(given[name] ?? '')
    const context = {
      version: 1 as const,
      cipherSuite: 1,
      groupId: of('group_id'),
      epoch: BigInt(given.epoch),
      treeHash: of('tree_hash'),
      confirmedTranscriptHash: of('confirmed_transcript_hash'),
      extensions: [],
    }
    const config = { retainKeysForGenerations: 0, retainKeysForEpochs: 1, maximumForwardRatchetSteps: 10 }
    const message = read(given.application_priv ?? '')
    if (!('privateMessage' in message)) throw new Error('not a private message')
    const secrets = createSecretTree(2, of('encryption_secret'))
    const opened = await unprotectPrivateMessage(
      of('sender_data_secret'),
      message.privateMessage,
      secrets,
      [],
      context,
      config,
      suite,
      of('signature_pub'),
    )
    const { content } = opened.content
    expect(toHex('applicationData' in content ? content.applicationData : of(''))).toBe(
      given.application ?? '',
    )
    const commit = read(given.commit_pub ?? '')
    if (!('publicMessage' in commit)) throw new Error('not a public message')
    const read2 = await unprotectPublicMessage(
      of('membership_key'),
      context,
      [],
      commit.publicMessage,
      suite,
      of('signature_pub'),
    )
    expect(read2.content.contentType).toBe(contentTypes.commit)
  }
})

test('tree-validation', async () => {
  for (const { tree, tree_hashes, resolutions } of vectors['tree-validation']) {
    const decoded = decode(ratchetTreeDecoder, hex(tree)) ?? expect.unreachable()
    for (const [at, expected] of tree_hashes.entries()) {
      const index = treeMath.toNodeIndex(at)
      expect(toHex(await treeHash(decoded, index, suite.hash))).toBe(expected)
      expect<number[]>(resolution(decoded, index)).toEqual(resolutions[at] ?? [])
    }
    expect(await verifyParentHashes(decoded, suite.hash)).toBe(true)
  }
})

test('messages', () => {
  for (const given of vectors.messages) {
    const names = [
      'mls_welcome',
      'mls_group_info',
      'mls_key_package',
      'public_message_commit',
      'private_message',
    ]
    for (const name of names) {
      const text = given[name] ?? ''
      expect(toHex(encode(mlsMessageEncoder, read(text)))).toBe(text)
    }
  }
})

const passive = [
  ...vectors['passive-client-welcome'],
  ...vectors['passive-client-handling-commit'],
  ...vectors['passive-client-random'],
]
for (const [at, given] of passive.entries()) {
  test(`passive client ${at}`, async () => {
    const of = (name: string) => hex(given[name] ?? '')
    const psks: { psk_id: string; psk: string }[] = given.external_psks
    const context = {
      cipherSuite: suite,
      authService: { validateCredential: async () => true },
      externalPsks: Object.fromEntries(psks.map(({ psk_id, psk }) => [hex(psk_id).toBase64(), hex(psk)])),
    }
    const [keyPackage, welcome] = [read(given.key_package ?? ''), read(given.welcome ?? '')]
    if (!('keyPackage' in keyPackage) || !('welcome' in welcome)) throw new Error('neither')
    const tree = given.ratchet_tree ? decode(ratchetTreeDecoder, of('ratchet_tree')) : undefined
    let state = await joinGroup({
      context,
      welcome: welcome.welcome,
      keyPackage: keyPackage.keyPackage,
      privateKeys: {
        initPrivateKey: of('init_priv'),
        hpkePrivateKey: of('encryption_priv'),
        signaturePrivateKey: of('signature_priv'),
      },
      ...(tree && { ratchetTree: tree }),
    })
    expect(toHex(state.keySchedule.epochAuthenticator)).toBe(given.initial_epoch_authenticator ?? '')
    const epochs: { proposals: string[]; commit: string; epoch_authenticator: string }[] = given.epochs
    for (const { proposals, commit, epoch_authenticator } of epochs) {
      for (const text of [...proposals, commit]) {
        const message = read(text)
        if (!('privateMessage' in message) && !('publicMessage' in message)) throw new Error('not framed')
        state = (await processMessage({ context, state, message })).newState
      }
      expect(toHex(state.keySchedule.epochAuthenticator)).toBe(epoch_authenticator)
    }
  })
}

function read(text: string): MlsMessage {
  return decode(mlsMessageDecoder, hex(text)) ?? expect.unreachable()
}

type Guard = Parameters<typeof ratchetToGeneration>[1]['reuseGuard']

function noGuard(): Guard {
  return new Uint8Array(4) as Guard
}
