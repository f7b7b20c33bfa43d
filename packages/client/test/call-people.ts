// People who call: real clients at a real relay. The media are in the hands of the test; browsers' have tests of their own.
import {
  type CallSignalFields,
  type CallSignalType,
  decodeBase64,
  deriveIdentityKeys,
  sealCallSignal,
} from '@sotto/crypto'
import type { CallInfo, CallsOptions } from '../src/calls/call-info.ts'
import type { CallCandidate, CallPeer, CallPeerOptions, SentMedia } from '../src/calls/call-peer.ts'
import { Calls } from '../src/calls/calls.ts'
import type { ClientOptions, Vault } from '../src/client.ts'
import { systemClock } from '../src/options.ts'
import { type Person, until } from './people.ts'
import type { PeopleWorld } from './people-world.ts'

/** Media that go nowhere, and note what they were told. */
export class TestPeer implements CallPeer {
  readonly options: CallPeerOptions
  readonly descriptions: string[] = []
  /** Other ways it offered, and those it was offered. */
  readonly restarts: string[] = []
  readonly candidates: string[] = []
  readonly tracks: string[] = []
  readonly sentUnder: number[] = []
  readonly receivedUnder: number[] = []
  isClosed = false
  expected: SentMedia | undefined

  /** Awaited in each step: resolves when it may go on. */
  readonly #pass: (step: string) => Promise<void>

  constructor(options: CallPeerOptions, pass: (step: string) => Promise<void>) {
    this.options = options
    this.#pass = pass
  }

  async createOffer(): Promise<string> {
    await this.#pass('createOffer')
    return 'sdp of an offer'
  }

  async createAnswer(offer: string): Promise<string> {
    await this.#pass('createAnswer')
    this.descriptions.push(offer)
    return 'sdp of an answer'
  }

  async takeAnswer(answer: string): Promise<void> {
    this.descriptions.push(answer)
  }

  async offerRestart(): Promise<string> {
    this.restarts.push('offer')
    return `sdp of offer ${this.restarts.length}`
  }

  async answerRestart(offer: string): Promise<string> {
    this.restarts.push(offer)
    return `sdp of answer ${this.restarts.length}`
  }

  async addCandidate({ candidate }: CallCandidate): Promise<void> {
    await this.#pass('addCandidate')
    this.candidates.push(candidate)
  }

  async sendUnder(epoch: number): Promise<void> {
    await this.#pass('sendUnder')
    this.sentUnder.push(epoch)
  }

  async receiveUnder(epoch: number): Promise<void> {
    await this.#pass('receiveUnder')
    this.receivedUnder.push(epoch)
  }

  expect(media: SentMedia): void {
    this.expected = media
  }

  async setTrack(kind: string, track: MediaStreamTrack | null): Promise<void> {
    this.tracks.push(`${kind} ${track === null ? 'off' : 'on'}`)
  }

  close(): void {
    this.isClosed = true
  }

  /** Finds a way to be reached by. */
  find(candidate: string): void {
    this.options.onCandidate({ candidate, sdpMid: '0', sdpMLineIndex: 0, usernameFragment: null })
  }

  keyOf(side: 'own' | 'theirs', mid = '0', epoch = 1): Promise<string> {
    return this.options.keyOf(side, mid, epoch).then((key) => Buffer.from(key).toString('hex'))
  }
}

/**
 * The waits of a call, in milliseconds: for an answer, for media, and from one restart to the next. They are over when a test
 * says so, and not when its machine is slow.
 */
const WAITS_MS = [45_000, 30_000, 2000]

/** What a caller is made with. */
export interface CallerOptions extends CallsOptions {
  /** What the clock shows, in milliseconds; the time of day unless told. */
  readonly now?: () => number
  readonly secrets?: Vault
}

/** A wait of a call that is not over. */
interface Wait {
  readonly ms: number
  readonly run: () => void
}

/** What a connection to the relay goes through. */
interface Line {
  /** What is sent is lost, and nobody knows. */
  isDead: boolean
  /** The frames that were lost. */
  readonly lost: string[]
}

/** A person with calls. */
export class Caller {
  readonly person: Person
  readonly calls: Calls
  readonly peers: TestPeer[] = []
  readonly states: string[] = []
  readonly refused: { from: string; reason: string }[] = []
  /** Every frame that left, as it stood on the wire. */
  readonly wire: string[]
  readonly line: Line
  readonly #sockets: WebSocket[]
  readonly #waits: Set<Wait>
  #gate: { readonly step: string; pass(): Promise<void> } | undefined
  #keys: ReturnType<typeof deriveIdentityKeys> | undefined

  private constructor(
    person: Person,
    wire: string[],
    line: Line,
    sockets: WebSocket[],
    waits: Set<Wait>,
    options: CallsOptions,
  ) {
    this.person = person
    this.wire = wire
    this.line = line
    this.#sockets = sockets
    this.#waits = waits
    this.calls = new Calls(
      person.client,
      (peerOptions) => {
        const peer = new TestPeer(peerOptions, async (step) => {
          if (this.#gate?.step === step) await this.#gate.pass()
        })
        this.peers.push(peer)
        return peer
      },
      options,
    )
    this.calls.onChange((call) => {
      const line = call.end === undefined ? call.state : `${call.state}: ${call.end}`
      if (this.states.at(-1) !== line) this.states.push(line)
    })
    this.calls.onRefused((refused) => this.refused.push(refused))
  }

  static async join(
    world: PeopleWorld,
    name: string,
    { now = systemClock.now, secrets, ...options }: CallerOptions = {},
  ): Promise<Caller> {
    const wire: string[] = []
    const line: Line = { isDead: false, lost: [] }
    const sockets: WebSocket[] = []
    const waits = new Set<Wait>()
    const clientOptions: Partial<ClientOptions> = {
      ...(secrets && { secrets }),
      WebSocket: class extends WebSocket {
        constructor(url: string) {
          super(url)
          sockets.push(this)
        }

        override send(text: string): void {
          if (line.isDead) {
            line.lost.push(text)
            return
          }
          wire.push(text)
          super.send(text)
        }
      },
      clock: {
        now,
        after: (ms, run) => {
          if (!WAITS_MS.includes(ms)) return systemClock.after(ms, run)
          const wait = { ms, run }
          waits.add(wait)
          return () => waits.delete(wait)
        },
      },
    }
    return new Caller(await world.join(name, clientOptions), wire, line, sockets, waits, options)
  }

  get alias(): string {
    return this.person.alias
  }

  get peer(): TestPeer {
    const peer = this.peers.at(-1)
    if (!peer) throw new Error('no media yet')
    return peer
  }

  get info(): CallInfo {
    const { current } = this.calls
    if (!current) throw new Error('no call yet')
    return current
  }

  /** The frames of calls that left. */
  get signals(): { type: string; call_id: string; payload: string }[] {
    return signalsIn(this.wire)
  }

  /** Waits until so many frames of calls have left. */
  async hasSaid(count: number): Promise<void> {
    await until(`${this.person.name} has said ${count}`, () => this.signals.length >= count)
  }

  /** Waits until so many frames of calls were lost on the line. */
  async hasLost(count: number): Promise<void> {
    await until(`${this.person.name} has lost ${count}`, () => signalsIn(this.line.lost).length >= count)
  }

  /** Has the wait of this length be over. */
  endWait(ms: number): void {
    const over = [...this.#waits].filter((wait) => wait.ms === ms)
    if (over.length === 0) throw new Error(`${this.person.name} does not wait for ${ms} ms`)
    for (const wait of over) {
      this.#waits.delete(wait)
      wait.run()
    }
  }

  is(state: string): Promise<unknown> {
    return until(`${this.person.name} is ${state}, not ${this.states.join(', ')}`, () =>
      this.states.at(-1)?.startsWith(state),
    )
  }

  /** Has the media stop at a step, once, until they are let on. */
  holdAt(step: string): { reached: Promise<void>; open(): void } {
    const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    this.#gate = {
      step,
      pass: () => {
        this.#gate = undefined
        reached.resolve()
        return opened.promise
      },
    }
    return { reached: reached.promise, open: opened.resolve }
  }

  /** Has the connection to the relay break; the client comes back by itself. */
  async loseConnection(): Promise<void> {
    const lost = Promise.withResolvers<void>()
    // Told, and not looked for: it can be back within a millisecond.
    const undo = this.person.client.on('network_state', (state) => {
      if (state === 'connecting') lost.resolve()
    })
    this.#sockets.at(-1)?.close()
    await lost.promise
    undo()
  }

  /** Signs and seals a signal as this client would, whatever it says, and sends it past the client. */
  async say(type: CallSignalType, to: Caller, callId: string, fields: CallSignalFields): Promise<void> {
    const { client, store } = this.person
    const { conversationId } = await client.conversation(to.alias)
    const session = (await store.listSessions()).find((each) => each.conversationId === conversationId)
    this.#keys ??= deriveIdentityKeys((await store.getIdentity())?.mnemonic ?? '')
    const { signing } = await this.#keys
    this.sendRaw(
      await sealCallSignal({
        ...{ type, to: to.alias, from: this.alias, callId, fields },
        sessionKey: decodeBase64(session?.sessionKeyBase64 ?? ''),
        signingPrivateKey: signing.privateKey,
        nowMs: Date.now(),
        randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
      }),
    )
  }

  /** Sends a frame past the client. */
  sendRaw(frame: object): void {
    this.#sockets.at(-1)?.send(JSON.stringify(frame))
  }
}

function signalsIn(frames: readonly string[]): { type: string; call_id: string; payload: string }[] {
  return frames.filter((text) => text.includes('"call_')).map((text) => JSON.parse(text))
}

/** Two friends who call. */
export async function callers(world: PeopleWorld, options: CallerOptions = {}): Promise<[Caller, Caller]> {
  const [alice, bob] = [await Caller.join(world, 'alice', options), await Caller.join(world, 'bob', options)]
  await alice.person.befriend(bob.person)
  return [alice, bob]
}

/** Has one call the other and the other take it, up to where media flow. */
export async function connect(alice: Caller, bob: Caller): Promise<void> {
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  await bob.calls.accept()
  await alice.is('connecting')
  for (const { peer } of [alice, bob]) peer.options.onMedia('media_connected')
  await alice.is('connected')
}

/**
 * Waits until the other has dealt with everything sent to it before, told by the refusal of a last signal that cannot be
 * decrypted.
 * @param before how many of the signals still under way cannot be decrypted either
 */
export async function settled(from: Caller, to: Caller, before = 0): Promise<void> {
  const undecryptable = (): number => to.refused.filter(({ reason }) => reason === 'DECRYPTION_FAILED').length
  const expected = before + 1
  if (undecryptable() >= expected) throw new Error('something could not be decrypted already')
  from.sendRaw({
    type: 'call_ice',
    to: to.alias,
    call_id: 'x',
    from: from.alias,
    crypto_v: 2,
    payload: 'AAAA',
  })
  await until('settled', () => undecryptable() === expected)
  to.refused.splice(
    to.refused.findLastIndex(({ reason }) => reason === 'DECRYPTION_FAILED'),
    1,
  )
}
