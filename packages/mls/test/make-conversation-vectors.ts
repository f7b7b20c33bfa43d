// Makes vectors/mls/conversation.json anew: `npx bun packages/mls/test/make-conversation-vectors.ts`. Run it
// by hand, when the profile changes. Its randomness is the platform's, so each run makes other bytes.
import {
  ByteWriter,
  CALL_EXPORTER_LABEL,
  CALL_SECRET_BYTES,
  encodeBinding,
  encodeSecretContent,
  hashOfMessage,
  type OuterKind,
  pad,
  sealOuter,
  signLeafCertificate,
} from '@sotto/crypto/version-3'
import {
  addMember,
  type CheckLeaf,
  commitUpdate,
  createGroup,
  createKeyPackage,
  encrypt,
  epochOf,
  exportSecret,
  type Group,
  type LeafKeys,
  members,
  newSignatureKeys,
  rejoin,
} from '@sotto/mls'
import { identity } from '../../crypto/test/expectations.ts'
import {
  ALICE,
  BOB,
  CONVERSATION_FILE,
  CONVERSATION_ID,
  type ConversationVectors,
  type EpochVector,
  type HandshakeVector,
  type MessageVector,
  OUTER_KEY_HEX,
} from './conversation.ts'
import { hex, toHex } from './vectors.ts'

const NOTE = [
  'One conversation in the profile of MLS of docs/cryptography.md, as Bob reads it. Alice is "a" and Bob "b" of "conversation" in ../secrecy.json.',
  "The file was made by this project's code with random keys. All messages are whole MLSMessages.",
  '"bob": his key package, its reference and lifetime in seconds since 1970, and its private keys: the X-Wing seeds of its init key and of its leaf, and the Ed25519 key of the leaf with the certificate of it.',
  '"steps": what comes to Bob, in this order. "sealed_hex" is the message once more, inside the outer AEAD of the kind, with "sealed_epoch" in its additional data; all are of Alice.',
  '"then": the epoch after it. "exported_hex" is the MLS exporter with the label sotto-call-secret-v1, an empty context and 32 bytes; "members" are its leaves.',
  'Of a message, "epoch" is the one it is of, "authenticated_data_hex" a binding to "message_id", and "plaintext_hex" a padded letter.',
].join(' ')
const RELAY = 'relay.example'
const START_MS = 1_800_000_000_000
const LIFETIME = { notBefore: START_MS / 1000, notAfter: START_MS / 1000 + 60 * 86_400 }

const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))
const everyone: CheckLeaf = () => true

/** A certificate of a leaf's key, signed by the account at a time. */
function certify(account: 0 | 1, signaturePublicKey: Uint8Array, device: string, time: number) {
  const { privateKey } = identity(account).signing
  const keys = account === 0 ? ALICE : BOB
  return signLeafCertificate({ relay: RELAY, device, account: keys, signaturePublicKey, time, privateKey })
}

async function newLeaf(account: 0 | 1, time: number): Promise<LeafKeys & { device: string }> {
  const { publicKey, privateKey } = await newSignatureKeys()
  const device = toHex(randomBytes(16))
  const credential = await certify(account, publicKey, device, time)
  return { credential, signaturePublicKey: publicKey, signaturePrivateKey: privateKey, device }
}

async function sealed(kind: OuterKind, epoch: number, message: Uint8Array) {
  const of = { key: hex(OUTER_KEY_HEX), conversationId: CONVERSATION_ID, kind, epoch, sender: ALICE }
  const sealedBytes = await sealOuter({ ...of, plaintext: message, randomBytes })
  return { message_hex: toHex(message), sealed_hex: toHex(sealedBytes), sealed_epoch: epoch }
}

async function epochOfGroup(group: Group): Promise<EpochVector> {
  const exported = await exportSecret(group, CALL_EXPORTER_LABEL, new Uint8Array(0), CALL_SECRET_BYTES)
  return {
    epoch: Number(epochOf(group)),
    exported_hex: toHex(exported),
    members: members(group).map(({ index, credential, signaturePublicKey }) => ({
      leaf: index,
      certificate_hex: toHex(credential),
      signature_public_hex: toHex(signaturePublicKey),
    })),
  }
}

async function handshake(
  kind: HandshakeVector['kind'],
  what: string,
  message: Uint8Array,
  group: Group,
): Promise<HandshakeVector> {
  const then = await epochOfGroup(group)
  return { kind, what, ...(await sealed(kind, then.epoch - 1, message)), then }
}

/** What Alice writes in one join: her group, her number, and the hash of her last message. */
class Writer {
  group: Group
  #number = 0
  #previous: Uint8Array | undefined

  constructor(group: Group) {
    this.group = group
  }

  async write(messageId: string, text: string, what: string): Promise<MessageVector> {
    const content = encodeSecretContent({ kind: 'text', text })
    this.#number += 1
    const [format, kind, seen, resends, deletes] = [1, 0, 0, 0, 0]
    const letter = new ByteWriter().number(format).number(kind).number(this.#number).number(seen)
    const plaintext = pad(letter.number(resends).number(deletes).bytes(content).done())
    const context = { conversationId: CONVERSATION_ID, messageId, sender: ALICE, recipient: BOB }
    const binding = await encodeBinding({ ...context, previous: this.#previous })
    const epoch = Number(epochOf(this.group))
    const { group, message } = await encrypt(this.group, plaintext, binding)
    this.group = group
    this.#previous = await hashOfMessage(message)
    return {
      kind: 'message',
      what,
      message_id: messageId,
      epoch,
      message_hex: toHex(message),
      authenticated_data_hex: toHex(binding),
      plaintext_hex: toHex(plaintext),
    }
  }
}

const aliceLeaf = await newLeaf(0, START_MS)
const bobLeaf = await newLeaf(1, START_MS)
const bobPackage = await createKeyPackage(bobLeaf, LIFETIME)
const groupId = randomBytes(16)
const begun = await addMember(await createGroup(aliceLeaf, groupId), bobPackage.keyPackage, everyone)
const alice = new Writer(begun.group)
const first = await alice.write('m-1', 'one', 'the first message')
const second = await alice.write('m-2', 'two', 'the second message, which the third has overtaken')
const third = await alice.write('m-3', 'three', 'the third message, before the second')
const fourth = await alice.write('m-4', 'four', 'the fourth message, after a commit that it came before')

const credential = await certify(0, aliceLeaf.signaturePublicKey, aliceLeaf.device, START_MS + 86_400_000)
const renewed = await commitUpdate(alice.group, { ...aliceLeaf, credential })
alice.group = renewed.group
const fifth = await alice.write('m-5', 'five', 'a message in the epoch after a commit')

const newAlice = await newLeaf(0, START_MS + 2 * 86_400_000)
const rejoined = await rejoin(renewed.groupInfo, newAlice, { replaces: ({ index }) => index === 0 }, everyone)
const again = new Writer(rejoined.group)
const sixth = await again.write('m-6', 'six', 'the first message after a rejoin')

const vectors: ConversationVectors = {
  note: NOTE,
  relay: RELAY,
  group_id_hex: toHex(groupId),
  bob: {
    key_package_hex: toHex(bobPackage.keyPackage),
    reference_hex: toHex(bobPackage.reference),
    not_before: LIFETIME.notBefore,
    not_after: LIFETIME.notAfter,
    // Behind the version come the two seeds.
    init_private_hex: toHex(bobPackage.secrets.subarray(1, 33)),
    leaf_private_hex: toHex(bobPackage.secrets.subarray(33)),
    signature_private_hex: toHex(bobLeaf.signaturePrivateKey),
    signature_public_hex: toHex(bobLeaf.signaturePublicKey),
    certificate_hex: toHex(bobLeaf.credential),
  },
  steps: [
    await handshake('welcome', 'Alice adds Bob', begun.welcome, begun.group),
    first,
    third,
    second,
    await handshake('commit', 'Alice renews her keys and her certificate', renewed.commit, renewed.group),
    fourth,
    fifth,
    {
      kind: 'group_info',
      what: 'the GroupInfo of this epoch, from which Alice rejoins',
      ...(await sealed('group_info', 2, renewed.groupInfo)),
    },
    await handshake('rejoin', 'Alice rejoins with a new leaf', rejoined.commit, rejoined.group),
    sixth,
  ],
}
await Bun.write(CONVERSATION_FILE, `${JSON.stringify(vectors, null, 2)}\n`)
