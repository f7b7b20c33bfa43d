// Two courses of one conversation with a relay between them that only counts, so that what is measured is
// the cryptography, MLS and the encoding of the states. Runs in Bun and in browsers.
import { bytesToHex, deriveIdentityKeys, type IdentityKeys } from '@sotto/crypto'
import { deriveOuterKey, paddedLength, signLeafCertificate } from '@sotto/crypto/version-3'
import { createKeyPackage, type LeafKeys, newSignatureKeys } from '@sotto/mls'
import { ConversationId, check } from '@sotto/protocol'
import { encodeMessage } from '../../packages/client/src/forward-secrecy/contents.ts'
import {
  type CourseEvent,
  decodeCourse,
  encodeBlock,
  encodeCourse,
  encodeInBlocks,
  newCourse,
  type OwnKeyPackage,
  type SentBlock,
  type Sides,
  type Step,
  step,
} from '../../packages/client/src/secrecy/version-3/version-3.ts'

const CONVERSATION = check(ConversationId, '01890a5d-ac96-474b-bcce-b302099a8057')
const RELAY = 'relay.test'
const PHRASES = [
  `${'abandon '.repeat(11)}about`,
  'legal winner thank year wave sausage worth useful legal winner thank yellow',
] as const
/** More rounds than any exchange takes. */
const MOST_ROUNDS = 100

const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))

/** What the relay has of the conversation. */
interface Relay {
  epoch: number
  seq: number
  groupInfo: Uint8Array | undefined
}

/** Something that an end sends: a message, or with `groupInfo` a handshake. */
interface Upward {
  readonly id: string
  readonly epoch: number
  readonly payload: Uint8Array
  readonly groupInfo?: Uint8Array
}

/** One end of the conversation. Its state is stored after each step, and read before it. */
class End {
  readonly #sides: Sides
  readonly #ownPackage: OwnKeyPackage & { readonly reference: Uint8Array }
  readonly #asks: Step['asks'][number]['ask'][] = []
  #state: Uint8Array = encodeCourse({ ...newCourse(), peerSpeaks: true })
  #course = decodeCourse(this.#state)
  #blocks: readonly SentBlock[] = []
  readonly sends: Upward[] = []
  /** How many messages it has shown. */
  shown = 0

  private constructor(sides: Sides, ownPackage: OwnKeyPackage & { readonly reference: Uint8Array }) {
    this.#sides = sides
    this.#ownPackage = ownPackage
  }

  static async open(own: IdentityKeys, peer: IdentityKeys): Promise<End> {
    const account = { x25519: own.agreement.publicKey, ed25519: own.signing.publicKey }
    const { publicKey, privateKey } = await newSignatureKeys()
    const device = bytesToHex(random(16))
    const credential = await signLeafCertificate({
      ...{ relay: RELAY, device, account, signaturePublicKey: publicKey, time: Date.now() },
      privateKey: own.signing.privateKey,
    })
    const leaf: LeafKeys = { credential, signaturePublicKey: publicKey, signaturePrivateKey: privateKey }
    const seconds = Math.floor(Date.now() / 1000)
    const made = await createKeyPackage(leaf, { notBefore: seconds - 3600, notAfter: seconds + 86_400 })
    const outerKey = await deriveOuterKey({
      privateKey: own.agreement.privateKey,
      theirPublicKey: peer.agreement.publicKey,
      conversationId: CONVERSATION,
    })
    const theirs = { x25519: peer.agreement.publicKey, ed25519: peer.signing.publicKey }
    const sides = { conversationId: CONVERSATION, relay: RELAY, own: account, peer: theirs }
    return new End({ ...sides, device, leaf, outerKey }, made)
  }

  get keyPackage(): { readonly device: string; readonly package: Uint8Array } {
    return { device: this.#sides.device, package: this.#ownPackage.keyPackage }
  }

  get stateBytes(): number {
    return this.#state.length
  }

  get asked(): Step['asks'][number]['ask'] | undefined {
    return this.#asks.shift()
  }

  async give(event: CourseEvent): Promise<Step> {
    const made = await step(this.#course, event, {
      ...{ sides: this.#sides, now: Date.now(), random, newId: () => crypto.randomUUID() },
      findKeyPackage: async () => this.#ownPackage,
    })
    const { state, blocks } = encodeInBlocks(made.course, this.#blocks)
    const stored = new Set(this.#blocks.map(({ number }) => number))
    for (const block of blocks) if (!stored.has(block.number)) encodeBlock(block)
    this.#state = state
    this.#blocks = blocks
    this.#course = made.course
    this.#asks.push(...made.asks.map(({ ask }) => ask))
    if (made.handshake) this.sends.push(made.handshake)
    for (const each of made.keep) {
      if (each.keep === 'ciphertext') this.sends.push(each)
      if (each.keep === 'message') this.shown += 1
      if (each.keep === 'unreadable') throw new Error('a message could not be opened')
    }
    return made
  }
}

/** Two ends that are connected. Nothing was sent. */
export class TwoCourses {
  readonly #relay: Relay = { epoch: 0, seq: 0, groupInfo: undefined }
  readonly #keys: readonly [IdentityKeys, IdentityKeys]
  #ends: [End, End]

  private constructor(keys: readonly [IdentityKeys, IdentityKeys], ends: [End, End]) {
    this.#keys = keys
    this.#ends = ends
  }

  static async open(): Promise<TwoCourses> {
    const keys = [await deriveIdentityKeys(PHRASES[0]), await deriveIdentityKeys(PHRASES[1])] as const
    const courses = new TwoCourses(keys, [await End.open(...keys), await End.open(keys[1], keys[0])])
    for (const end of courses.#ends) await end.give({ type: 'synced' })
    return courses
  }

  get stateBytes(): number {
    return Math.max(...this.#ends.map(({ stateBytes }) => stateBytes))
  }

  /** The second end loses its state. */
  async loseSecond(): Promise<void> {
    this.#ends = [this.#ends[0], await End.open(this.#keys[1], this.#keys[0])]
    await this.#ends[1].give({ type: 'synced' })
  }

  /**
   * One end sends a text and the other one shows it, with every handshake that this takes.
   * @returns how many bytes the message had beside its padded content
   */
  async say(text: string, from: 0 | 1 = 0): Promise<number> {
    const [sender, recipient] = from === 0 ? this.#ends : ([this.#ends[1], this.#ends[0]] as const)
    const before = recipient.shown
    const id = crypto.randomUUID()
    const body = bodyOf(id, text)
    let bytes = 0
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const { outcome } = bytes === 0 ? await sender.give({ type: 'send', id, body }) : { outcome: 'later' }
      if (outcome === 'handled') bytes = sender.sends.find((each) => each.id === id)?.payload.length ?? 0
      await this.#settle()
      if (recipient.shown > before) return bytes - paddedLength(body.length + 1)
    }
    throw new Error('the message does not arrive')
  }

  /** One end encrypts many messages. @returns what opens them all at the other end */
  async prepare(texts: readonly string[]): Promise<() => Promise<void>> {
    const [sender, recipient] = this.#ends
    const frames: CourseEvent[] = []
    for (const text of texts) {
      const id = crypto.randomUUID()
      const event = { type: 'send', id, body: bodyOf(id, text) } as const
      for (let isSent = false; !isSent; ) {
        isSent = (await sender.give(event)).outcome === 'handled'
        for (const sent of sender.sends.splice(0)) frames.push(await this.#accept(sender, sent))
      }
    }
    return async () => {
      const before = recipient.shown
      for (const frame of frames) await recipient.give(frame)
      if (recipient.shown - before !== texts.length) throw new Error('not every message was opened')
    }
  }

  async #settle(): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      let isQuiet = true
      for (const [at, end] of this.#ends.entries()) {
        const other = this.#ends[at === 0 ? 1 : 0]
        for (let ask = end.asked; ask !== undefined; ask = end.asked) {
          isQuiet = false
          await this.#answer(end, other, ask)
        }
        for (const sent of end.sends.splice(0)) {
          isQuiet = false
          if (sent.epoch === this.#relay.epoch) await other.give(await this.#accept(end, sent))
          else await end.give({ type: 'stale', id: sent.id, epoch: this.#relay.epoch })
        }
      }
      if (isQuiet) return
    }
    throw new Error('the two ends do not come to rest')
  }

  async #accept(end: End, { id, epoch, payload, groupInfo }: Upward): Promise<CourseEvent> {
    this.#relay.seq += 1
    const { seq } = this.#relay
    const isHandshake = groupInfo !== undefined
    if (isHandshake) Object.assign(this.#relay, { epoch: epoch + 1, groupInfo })
    await end.give({ type: 'accepted', id, seq })
    return { type: 'frame', id, seq, epoch, isHandshake, payload, isKnown: false }
  }

  async #answer(end: End, other: End, ask: Step['asks'][number]['ask']): Promise<void> {
    const { epoch, groupInfo } = this.#relay
    if (ask === 'sync') await end.give({ type: 'synced' })
    if (ask === 'group')
      await end.give({ type: 'group', epoch, ...(groupInfo === undefined ? {} : { groupInfo }) })
    if (ask === 'key_packages') await end.give({ type: 'key_packages', packages: [other.keyPackage] })
  }
}

function bodyOf(id: string, text: string): Uint8Array {
  const body = encodeMessage({
    ...{ id, conversationId: CONVERSATION, isMe: true, text, time: Date.now(), status: 'sending' },
  })
  if (!body) throw new Error('a text has a body')
  return body
}
