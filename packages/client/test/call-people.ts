// People who call each other: real clients at a real relay. The test replaces the media. Calls in browsers
// have separate tests.
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
import { briefPauses } from './brief-pauses.ts'
import { type Person, until } from './people.ts'
import type { PeopleWorld } from './people-world.ts'

/** A peer without real media. It records what the client does with it. */
export class TestPeer implements CallPeer {
  readonly options: CallPeerOptions
  readonly descriptions: string[] = []
  /**
   * `offer` for each restart that this side offered, and the SDP of each restart that the other side offered.
   */
  readonly restarts: string[] = []
  readonly candidates: string[] = []
  readonly tracks: string[] = []
  readonly sentUnder: number[] = []
  readonly receivedUnder: number[] = []
  isClosed = false
  expected: SentMedia | undefined

  /** The peer awaits this in each step. It resolves when the test lets the step continue. */
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

  /** Reports a network candidate to the client, as a browser does when it finds one. */
  findCandidate(candidate: string): void {
    this.options.onCandidate({ candidate, sdpMid: '0', sdpMLineIndex: 0, usernameFragment: null })
  }

  keyOf(side: 'own' | 'theirs', mid = '0', epoch = 1): Promise<string> {
    return this.options.keyOf(side, mid, epoch).then((key) => Buffer.from(key).toString('hex'))
  }
}

/**
 * The waits of a call, in milliseconds: for an answer, for media, between two restarts, from the
 * announcement of an epoch to its start, for a group, and until the keys of an epoch that was left are
 * erased. The test ends each wait. A slow machine cannot end one too early.
 */
const WAITS_MS = [45_000, 30_000, 2000, 1000, 20_000, 120_000]

/** Options of a caller. */
export interface CallerOptions extends CallsOptions {
  /** The caller's clock, in milliseconds. The default is the time of day. */
  readonly now?: () => number
  readonly secrets?: Vault
  /** Further options of the client. */
  readonly client?: Partial<Pick<ClientOptions, 'forwardSecrecy' | 'store' | 'fetch'>>
  /** Decides about each frame that arrives: it may hold a frame back and pass it later. */
  readonly receive?: (text: string, pass: () => void) => void
}

/** A pending wait of a call. */
interface Wait {
  readonly ms: number
  readonly run: () => void
}

/** The network between a caller and the relay. */
interface Line {
  /** Whether the network drops sent frames without an error. */
  isDead: boolean
  /** The frames that the network dropped. */
  readonly lost: string[]
}

/** A person whose client can call. */
export class Caller {
  readonly person: Person
  readonly calls: Calls
  readonly peers: TestPeer[] = []
  readonly states: string[] = []
  readonly refused: { from: string; reason: string }[] = []
  /** Every sent frame, as text. */
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

  static join(world: Pick<PeopleWorld, 'join'>, name: string, options: CallerOptions = {}): Promise<Caller> {
    return Caller.of((clientOptions) => world.join(name, clientOptions), options)
  }

  /** A caller whose client is opened by `open`. */
  static async of(
    open: (options: Partial<ClientOptions>) => Promise<Person>,
    { now = briefPauses.clock.now, secrets, client = {}, receive, ...options }: CallerOptions = {},
  ): Promise<Caller> {
    const wire: string[] = []
    const line: Line = { isDead: false, lost: [] }
    const sockets: WebSocket[] = []
    const waits = new Set<Wait>()
    const clientOptions: Partial<ClientOptions> = {
      ...client,
      ...(secrets && { secrets }),
      WebSocket: class extends WebSocket {
        constructor(url: string) {
          super(url)
          sockets.push(this)
          const passed = new WeakSet<Event>()
          // The first listener: those of the client hear only what passes.
          this.addEventListener('message', (event) => {
            if (!receive || passed.has(event)) return
            event.stopImmediatePropagation()
            receive(String(event.data), () => {
              const again = new MessageEvent('message', { data: event.data })
              passed.add(again)
              this.dispatchEvent(again)
            })
          })
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
          if (!WAITS_MS.includes(ms)) return briefPauses.clock.after(ms, run)
          const wait = { ms, run }
          waits.add(wait)
          return () => waits.delete(wait)
        },
      },
    }
    return new Caller(await open(clientOptions), wire, line, sockets, waits, options)
  }

  get alias(): string {
    return this.person.alias
  }

  get peer(): TestPeer {
    const peer = this.peers.at(-1)
    if (!peer) throw new Error('the client has not opened media yet')
    return peer
  }

  get info(): CallInfo {
    const { current } = this.calls
    if (!current) throw new Error('the client has no call yet')
    return current
  }

  /** The call frames that this client has sent. */
  get signals(): SentSignal[] {
    return signalsIn(this.wire)
  }

  /** The call frames that the network has dropped. */
  get lostSignals(): SentSignal[] {
    return signalsIn(this.line.lost)
  }

  /** Waits until this client has sent this many call frames. */
  async hasSent(count: number): Promise<void> {
    await until(`${this.person.name} has sent ${count} call frames`, () => this.signals.length >= count)
  }

  /** Waits until the network has dropped this many call frames. */
  async hasLost(count: number): Promise<void> {
    await until(`${this.person.name} has lost ${count} call frames`, () => this.lostSignals.length >= count)
  }

  /** Whether a wait of this length is pending. */
  waitsFor(ms: number): boolean {
    return [...this.#waits].some((wait) => wait.ms === ms)
  }

  /** Ends the wait of this length. */
  endWait(ms: number): void {
    const ended = [...this.#waits].filter((wait) => wait.ms === ms)
    if (ended.length === 0) throw new Error(`${this.person.name} has no wait of ${ms} ms`)
    for (const wait of ended) {
      this.#waits.delete(wait)
      wait.run()
    }
  }

  is(state: string): Promise<unknown> {
    return until(`${this.person.name}’s call is ${state}; states until now: ${this.states.join(', ')}`, () =>
      this.states.at(-1)?.startsWith(state),
    )
  }

  /** Makes the media pause once at this step, until the test calls `open`. */
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

  /** Breaks the connection to the relay. The client reconnects by itself. */
  async loseConnection(): Promise<void> {
    const lost = Promise.withResolvers<void>()
    // Waits for the event instead of reading the state, because the client can reconnect within a
    // millisecond.
    const undo = this.person.client.on('network_state', (state) => {
      if (state === 'connecting') lost.resolve()
    })
    this.#sockets.at(-1)?.close()
    await lost.promise
    undo()
  }

  /** Signs and encrypts any signal as this client would, and sends it past the client. */
  async sendSignal(
    type: CallSignalType,
    to: { readonly alias: string },
    callId: string,
    fields: CallSignalFields,
  ): Promise<void> {
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

  /** Sends a frame on the client's socket, past the client. */
  sendRaw(frame: object): void {
    this.#sockets.at(-1)?.send(JSON.stringify(frame))
  }
}

/** A call frame that was sent. */
export interface SentSignal {
  readonly type: string
  readonly call_id: string
  readonly from: string
  readonly crypto_v: number
  readonly payload: string
}

function signalsIn(frames: readonly string[]): SentSignal[] {
  return frames.filter((text) => text.includes('"call_')).map((text) => JSON.parse(text))
}

/** Two friends who can call each other. */
export async function callers(world: PeopleWorld, options: CallerOptions = {}): Promise<[Caller, Caller]> {
  const [alice, bob] = [await Caller.join(world, 'alice', options), await Caller.join(world, 'bob', options)]
  await alice.person.befriend(bob.person)
  return [alice, bob]
}

/** Alice calls and Bob accepts. Resolves when both sides report that their media are connected. */
export async function connect(alice: Caller, bob: Caller): Promise<void> {
  await alice.calls.call(bob.alias)
  await bob.is('ringing')
  await bob.calls.accept()
  await alice.is('connecting')
  for (const { peer } of [alice, bob]) peer.options.onMedia('media_connected')
  await alice.is('connected')
}

/**
 * Waits until `to` has processed all call frames that `from` sent before. For this, `from` sends one more
 * signal that nobody can decrypt, and `to` reports that it refused it.
 * @param before how many of the earlier signals cannot be decrypted
 */
export async function settled(from: Caller, to: Caller, before = 0): Promise<void> {
  const undecryptable = (): number => to.refused.filter(({ reason }) => reason === 'DECRYPTION_FAILED').length
  const expected = before + 1
  if (undecryptable() >= expected) throw new Error('too many signals were refused as undecryptable')
  from.sendRaw({
    type: 'call_ice',
    to: to.alias,
    call_id: 'x',
    from: from.alias,
    crypto_v: 2,
    payload: 'AAAA',
  })
  await until(`${to.person.name} has refused the last signal`, () => undecryptable() === expected)
  to.refused.splice(
    to.refused.findLastIndex(({ reason }) => reason === 'DECRYPTION_FAILED'),
    1,
  )
}
