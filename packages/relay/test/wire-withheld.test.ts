// What a suspended account had sent: every message that was acknowledged arrives once and in order after the
// suspension, however it ends and whatever happens around it.
import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { rounds } from '../../protocol/test/rounds.ts'
import { liftSuspension } from '../src/accounts/accounts.ts'
import { tellRelay } from '../src/operator.ts'
import { openPostgresBeside } from '../src/storage/postgres.ts'
import { openSqliteBeside } from '../src/storage/sqlite.ts'
import type { AccountId } from '../src/storage/storage.ts'
import { onEveryEngine, type UsedRelay } from './use-relay.ts'
import { befriend, message, post, type WireAccount, type WireSocket, wireAccount } from './wire.ts'

const HOUR_MS = 3_600_000

const steps = [
  ...(['send', 'send', 'suspend', 'suspend', 'suspend for an hour', 'pass', 'maintain', 'lift'] as const),
  ...(['lift in the store', 'lift in the store', 'come', 'come', 'leave', 'confirm'] as const),
] as const
type Step = (typeof steps)[number]

/** Alice, who is suspended now and then, and Bob, who gets what she sends. */
class Play {
  readonly #relay: UsedRelay
  readonly #alice: WireAccount
  readonly #bob: WireAccount
  readonly #conv: string
  #alices: WireSocket | undefined
  #bobs: WireSocket | undefined
  /** The ids in the order of their `seq`. */
  readonly #acknowledged: string[] = []
  readonly #received = new Map<string, number>()
  /** What Bob got with the current connection. */
  #seqs: number[] = []

  private constructor(relay: UsedRelay, alice: WireAccount, bob: WireAccount, conv: string) {
    this.#relay = relay
    this.#alice = alice
    this.#bob = bob
    this.#conv = conv
  }

  static async open(relay: UsedRelay): Promise<Play> {
    const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    return new Play(relay, alice, bob, await befriend(alice, bob))
  }

  async carryOut(step: Step): Promise<void> {
    const { process } = this.#relay
    if (step === 'send') await this.#send(2)
    else if (step === 'suspend') await this.#suspend()
    else if (step === 'suspend for an hour') await this.#suspend((await process.letPass(0)) + HOUR_MS)
    else if (step === 'pass') await process.letPass(HOUR_MS)
    else if (step === 'maintain') await process.maintain()
    else if (step === 'lift') await this.#tell('accounts.lift').catch(() => undefined)
    else if (step === 'lift in the store') await liftInStore(this.#relay, this.#alice)
    else if (step === 'confirm') await this.#confirm()
    else if (step === 'leave') await this.#leave()
    else await this.#come()
  }

  /** Ends the suspension without a word to the relay. Then one more message brings all others with it. */
  async finish(): Promise<void> {
    if (!this.#bobs) await this.carryOut('come')
    await this.carryOut('lift in the store')
    expect(await this.#send(1)).toBe(true)
    while (!this.#received.has(this.#acknowledged.at(-1) ?? '')) this.#take(await this.#bobs?.next())
    expect([...this.#received.keys()]).toEqual(this.#acknowledged)
    await this.#alices?.close()
    await this.#bobs?.close()
  }

  // @returns false if she cannot log in
  async #send(count: number): Promise<boolean> {
    this.#alices ??= await this.#logIn()
    if (!this.#alices) return false
    for (let i = 0; i < count; i++) {
      const id = `m${this.#acknowledged.length}`
      this.#alices.send(message(this.#bob.alias, this.#conv, id, id))
      expect(await this.#alices.next('ack')).toMatchObject({ id })
      this.#acknowledged.push(id)
    }
    return true
  }

  async #logIn(): Promise<WireSocket | undefined> {
    const alice = this.#alice
    const { body } = await post(alice.api('/auth/challenge'), { user_uuid: alice.uuid })
    const signed = { challenge: body.challenge, signature: alice.sign(body.challenge) }
    const answer = await post(alice.api('/auth/verify'), { user_uuid: alice.uuid, ...signed })
    if (answer.status === 403) return undefined
    alice.token = answer.body.token
    return (await alice.online()).socket
  }

  async #suspend(endsAt?: number): Promise<void> {
    await this.#tell('accounts.suspend', endsAt)
    await this.#alices?.closed
    this.#alices = undefined
  }

  #tell(command: 'accounts.suspend' | 'accounts.lift', endsAt?: number) {
    const until = endsAt === undefined ? {} : { until: new Date(endsAt).toISOString() }
    const { dataDir } = this.#relay.process
    const about = { alias_id: this.#alice.alias, who: 'op', why: 'Spam' }
    return tellRelay({ DATA_DIR: dataDir }, command, { ...about, ...until })
  }

  async #leave(): Promise<void> {
    for (const frame of (await this.#bobs?.untilPong()) ?? []) this.#take(frame)
    await this.#bobs?.close()
    this.#bobs = undefined
    this.#seqs = []
  }

  async #come(): Promise<void> {
    await this.#leave()
    await this.#bob.login()
    const { socket, backlog } = await this.#bob.online()
    this.#bobs = socket
    for (const frame of backlog) this.#take(frame)
  }

  /** Bob confirms all that he got, as clients do: by the last `seq`. */
  async #confirm(): Promise<void> {
    for (const frame of (await this.#bobs?.untilPong()) ?? []) this.#take(frame)
    const seq = this.#seqs.at(-1)
    if (seq !== undefined)
      this.#bobs?.send({ type: 'delivered', conv_id: this.#conv, seq, to: this.#alice.alias })
  }

  // In order on each connection, and what comes again with another one is known.
  #take(frame: { type: string; id: string; seq: number }): void {
    if (frame.type !== 'msg') return
    expect(frame.seq).toBeGreaterThan(this.#seqs.at(-1) ?? 0)
    this.#seqs.push(frame.seq)
    if (!this.#received.has(frame.id)) this.#received.set(frame.id, frame.seq)
  }
}

onEveryEngine((relay) => {
  const stories: Record<string, readonly Step[]> = {
    'its time is over': ['send', 'suspend for an hour', 'come', 'pass', 'send', 'confirm', 'maintain'],
    'it is lifted elsewhere': ['send', 'suspend', 'come', 'lift in the store', 'send', 'confirm'],
    'it is lifted here': ['send', 'suspend', 'come', 'lift', 'send', 'confirm'],
    'it begins again': ['send', 'suspend', 'come', 'lift in the store', 'suspend', 'confirm', 'lift'],
  }
  for (const [story, told] of Object.entries(stories))
    test(`what was withheld arrives before later messages: ${story}`, async () => {
      await (await played(await Play.open(relay), told)).finish()
    })

  test('whatever happens, every acknowledged message arrives once and in order after the suspension', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...steps), { minLength: 6, maxLength: 14 }),
        async (chosen) => {
          await (await played(await Play.open(relay), chosen)).finish()
        },
      ),
      { numRuns: rounds(6, 60), endOnFailure: true },
    )
  })

  test('what was withheld arrives although nobody told the relay of the end, and nothing more is sent', async () => {
    const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    const conv = await befriend(alice, bob)
    const { socket } = await alice.online()
    socket.send(message(bob.alias, conv, 'a1', 'a1'))
    await socket.next('ack')
    const about = { alias_id: alice.alias, who: 'op', why: 'Spam' }
    await tellRelay({ DATA_DIR: relay.process.dataDir }, 'accounts.suspend', about)
    const bobs = await bob.online()
    expect(bobs.backlog.map(({ type }) => type)).toEqual(['sync_end'])
    await liftInStore(relay, alice)
    const arrived = bobs.socket.next('msg')
    let isOver = false
    const over = (): void => {
      isOver = true
    }
    arrived.then(over, over)
    // Again and again, because a pass is skipped while another one runs.
    for (; !isOver; await Bun.sleep(50)) await relay.process.maintain()
    expect(await arrived).toMatchObject({ id: 'a1' })
  })
})

async function played(play: Play, told: readonly Step[]): Promise<Play> {
  for (const each of told) await play.carryOut(each)
  return play
}

/** Lifts a suspension as `sotto accounts lift` does on another machine: the relay is not told. */
async function liftInStore({ process }: UsedRelay, { alias }: WireAccount): Promise<void> {
  const { databaseUrl, dataDir } = process
  const storage = databaseUrl
    ? openPostgresBeside(databaseUrl, { connections: 1 })
    : await openSqliteBeside(dataDir)
  await storage.transaction(async (sql) => {
    const [row] = await sql<{ account_id: AccountId }>`
      SELECT account_id FROM aliases WHERE alias_id = ${alias}`
    if (!row) throw new Error('no such account')
    await liftSuspension(sql, row.account_id)
  })
  await storage.close()
}
