// Kills the relay with SIGKILL at random moments under load: no acknowledged message is lost, repeated or
// out of order (docs/protocol.md, "Delivery").
import { afterAll, expect, test } from 'bun:test'
import { rounds } from '../../protocol/test/rounds.ts'
import { engines } from './engines.ts'
import { startOwnPostgres } from './postgres-server.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { befriend, message, WireAccount, WireSocket } from './wire.ts'

const PAIRS = 8
/** The messages to send in a round before the strike. */
const LEAST_PER_ROUND = 120
const WINDOW = 16

/** Sends numbered messages. After a reconnection it repeats the unacknowledged ones in their order. */
class Sender {
  readonly acked = new Map<string, number>()
  readonly #account: WireAccount
  readonly #to: string
  readonly #conv: string
  #unacked: string[] = []
  #sent = 0
  #socket: WebSocket | undefined

  constructor(account: WireAccount, to: string, conv: string) {
    this.#account = account
    this.#to = to
    this.#conv = conv
  }

  get sent(): number {
    return this.#sent
  }

  get isIdle(): boolean {
    return this.#unacked.length === 0
  }

  async connect(): Promise<void> {
    const { socket } = await connect(this.#account)
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#received(JSON.parse(String(data))))
    for (const id of this.#unacked) this.#write(id)
  }

  /** Keeps the window full with new messages. */
  fill(): void {
    while (this.#unacked.length < WINDOW && this.#socket?.readyState === WebSocket.OPEN) {
      this.#sent += 1
      const id = `m${this.#sent}`
      this.#unacked.push(id)
      this.#write(id)
    }
  }

  #received(frame: { type: string; id: string; seq: number }): void {
    if (frame.type !== 'ack') return
    const known = this.acked.get(frame.id)
    if (known !== undefined) expect(frame.seq).toBe(known)
    this.acked.set(frame.id, frame.seq)
    this.#unacked = this.#unacked.filter((id) => id !== frame.id)
  }

  #write(id: string): void {
    this.#socket?.send(JSON.stringify(message(this.#to, this.#conv, id, id)))
  }
}

/** Stores the received messages by `seq` and confirms some of them at random. */
class Receiver {
  readonly received = new Map<number, string>()
  readonly #account: WireAccount
  readonly #from: string
  readonly #conv: string

  constructor(account: WireAccount, from: string, conv: string) {
    this.#account = account
    this.#from = from
    this.#conv = conv
  }

  async connect(): Promise<void> {
    const { socket, frames } = await connect(this.#account)
    let last = 0
    const take = (frame: { type: string; id: string; seq: number }): void => {
      if (frame.type !== 'msg') return
      // Within one connection the seq of a conversation rises, and nothing arrives twice (Delivery 3 and 5).
      expect(frame.seq).toBeGreaterThan(last)
      last = frame.seq
      expect(this.received.get(frame.seq) ?? frame.id).toBe(frame.id)
      this.received.set(frame.seq, frame.id)
      if (Math.random() < 0.2) this.#confirm(socket, frame.seq)
    }
    for (const frame of frames.splice(0)) take(frame)
    socket.addEventListener('message', ({ data }) => take(JSON.parse(String(data))))
  }

  #confirm(socket: WebSocket, seq: number): void {
    socket.send(JSON.stringify({ type: 'delivered', conv_id: this.#conv, seq, to: this.#from }))
  }
}

async function connect(account: WireAccount): Promise<WireSocket> {
  return await WireSocket.open(`${account.wsUrl()}?user_uuid=${account.uuid}&token=${account.token}`)
}

async function makePairs(relay: RelayProcess): Promise<{ sender: Sender; receiver: Receiver }[]> {
  const pairs: { sender: Sender; receiver: Receiver }[] = []
  // One after the other, because a nonce sent without its challenge may use up another client's challenge
  // from the same address.
  for (let pair = 0; pair < PAIRS; pair++) {
    const [from, to] = [new WireAccount(relay.url), new WireAccount(relay.url)]
    for (const account of [from, to]) {
      await account.register()
      await account.login()
    }
    const conv = await befriend(from, to)
    pairs.push({ sender: new Sender(from, to.alias, conv), receiver: new Receiver(to, from.alias, conv) })
  }
  return pairs
}

async function connectAll(pairs: readonly { sender: Sender; receiver: Receiver }[]): Promise<void> {
  await Promise.all(pairs.flatMap(({ sender, receiver }) => [receiver.connect(), sender.connect()]))
}

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const late = performance.now() + 60_000
  while (!(await condition())) {
    if (performance.now() > late) throw new Error(`waited in vain until ${what}`)
    await Bun.sleep(5)
  }
}

/** Breaks something with `strike` while messages are sent, `times` times. Then compares all messages. */
async function survive(relay: RelayProcess, times: number, strike: () => Promise<void>): Promise<number> {
  const pairs = await makePairs(relay)
  for (let round = 0; round < times; round++) {
    await connectAll(pairs)
    const load = setInterval(() => {
      for (const { sender } of pairs) sender.fill()
    }, 1)
    // Waits for a number of messages and then a random time, so that even on a slow machine messages are in
    // transit at the strike.
    const enough = sentBy(pairs) + LEAST_PER_ROUND
    await until(() => sentBy(pairs) >= enough, 'messages are in transit')
    await Bun.sleep(Math.random() * 200)
    await strike()
    clearInterval(load)
  }
  await connectAll(pairs)
  await until(() => pairs.every(({ sender }) => sender.isIdle), 'every message is acknowledged')
  await until(
    () => pairs.every(({ sender, receiver }) => receiver.received.size >= sender.sent),
    'all messages have arrived',
  )
  for (const { sender, receiver } of pairs) {
    const bySeq = [...receiver.received].sort(([a], [b]) => a - b)
    // None is missing, none is repeated.
    expect(bySeq.map(([seq]) => seq)).toEqual(bySeq.map((_, index) => index + 1))
    // They are in the order of sending.
    expect(bySeq.map(([, id]) => id)).toEqual(bySeq.map((_, index) => `m${index + 1}`))
    for (const [id, seq] of sender.acked) expect(receiver.received.get(seq)).toBe(id)
  }
  return sentBy(pairs)
}

function sentBy(pairs: readonly { sender: Sender }[]): number {
  return pairs.reduce((sum, { sender }) => sum + sender.sent, 0)
}

const relays: RelayProcess[] = []
afterAll(async () => {
  for (const relay of relays) await relay.stop()
})

for (const engine of engines) {
  const times = engine.name === 'SQLite' ? rounds(20, 50) : rounds(5, 10)
  test(`${engine.name}: ${times} times SIGKILL under load lose, repeat or reorder no message`, async () => {
    const relay = await startRelay({ env: await engine.environment() })
    relays.push(relay)
    const total = await survive(relay, times, async () => {
      await relay.kill('SIGKILL')
      await relay.start()
    })
    expect(total).toBeGreaterThanOrEqual(times * LEAST_PER_ROUND)
  }, 300_000)
}

test('the relay survives crashes of its PostgreSQL under load, which lose, repeat or reorder no message', async () => {
  const postgres = await startOwnPostgres()
  const relay = await startRelay({
    env: { DATABASE_URL: await postgres.createDatabase(), LOG_LEVEL: 'silent' },
  })
  relays.push(relay)
  const pid = relay.pid
  await survive(relay, rounds(3, 5), async () => {
    await postgres.crash()
    await postgres.restart()
    await until(async () => (await fetch(`${relay.url}/ready`)).ok, 'the relay is ready again')
  })
  expect(relay.pid).toBe(pid)
  await relay.stop()
  await postgres.stop()
}, 300_000)
