// Waiting offers, with a clock that the test controls: how long an offer waits, which account it wakes, and
// how much memory offers use.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  AliasId,
  type CallFrameType,
  check,
  decodeClientFrame,
  defaultLimits,
  isCallFrame,
} from '@sotto/protocol'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { engines, type TestStore } from '../../test/engines.ts'
import { clockAt } from '../../test/mailbox-world.ts'
import { addAccount, findAccountByAlias } from '../accounts/accounts.ts'
import { createInProcessBus } from '../cluster/in-process-bus.ts'
import { requestFriendship } from '../friends/friendships.ts'
import { createLog } from '../operations/log.ts'
import { systemRandom } from '../operations/random.ts'
import type { AccountId } from '../storage/storage.ts'
import { type CallConnection, CallSignals } from './signals.ts'
import { WaitingOffers } from './waiting-offers.ts'

interface Person extends CallConnection {
  readonly alias: AliasId
}

describe.each(engines)('$name', (engine) => {
  let store: TestStore
  const clock = clockAt(1_800_000_000_000)

  beforeEach(async () => {
    store = await engine.open()
  })
  afterEach(() => store.remove())

  async function open(changed: Partial<ReturnType<typeof defaultLimits>> = {}) {
    const bus = createInProcessBus()
    const received = new Map<AccountId, string[]>()
    bus.listen((account, ring) => {
      if (ring.kind === 'signal') received.set(account, [...(received.get(account) ?? []), ring.frame])
    })
    const woken: AccountId[] = []
    const limits = { ...defaultLimits(), ...changed }
    const signals = new CallSignals({
      ...{ storage: store.storage, bus, log: createLog('error') },
      offers: new WaitingOffers({ limits, clock }),
      onOfferWaits: (account) => woken.push(account),
    })
    return {
      signals,
      woken,
      take: (by: CallConnection): string[] => {
        const frames = received.get(by.account) ?? []
        received.delete(by.account)
        return frames
      },
    }
  }

  async function person(): Promise<Person> {
    const parts = { clock, randomBytes: systemRandom }
    return await store.storage.transaction(async (sql) => {
      const keys = { ed25519PublicKey: crypto.randomUUID(), x25519PublicKey: crypto.randomUUID() }
      const alias = check(AliasId, (await addAccount(sql, { ...keys, nickname: 'n' }, parts))?.alias_id)
      const account = await findAccountByAlias(sql, alias)
      if (!account) throw new Error('no account was added')
      return { account: account.id, jti: crypto.randomUUID(), alias }
    })
  }

  async function friends(): Promise<[Person, Person]> {
    const [alice, bob] = [await person(), await person()]
    const parts = { clock, randomBytes: systemRandom, limits: defaultLimits() }
    for (const [one, other] of [
      [alice, bob],
      [bob, alice],
    ] as const) {
      const pair = { requester: one.account, recipient: other.account }
      await store.storage.transaction((sql) => requestFriendship(sql, pair, parts))
    }
    return [alice, bob]
  }

  function signal(type: CallFrameType, [from, to]: readonly [Person, Person], callId = 'call', more = {}) {
    const fields = { to: to.alias, call_id: callId, from: from.alias, crypto_v: 2, payload: 'AAAA' }
    const text = JSON.stringify({ type, ...fields, ...more })
    const { frame } = decodeClientFrame(text)
    if (!frame || !isCallFrame(frame)) throw new Error('not a frame of a call')
    return { type, frame, text }
  }

  test('an offer waits for 45 seconds and no longer', async () => {
    const { signals, take } = await open()
    const [alice, bob] = await friends()
    signals.opened(alice)
    const offer = signal('call_offer', [alice, bob])
    for (const [waitMs, found] of [
      [44_999, [offer.text]],
      [45_000, []],
    ] as const) {
      await signals.forward(alice, offer)
      take(bob)
      clock.advance(waitMs)
      signals.opened(bob)
      await signals.forward(alice, signal('call_hangup', [alice, bob], 'another'))
      expect(take(bob).slice(0, -1)).toEqual([...found])
      signals.closed(bob)
      await Bun.sleep(0)
    }
  })

  test('setting the clock does not change how long an offer waits', async () => {
    const { signals, take } = await open()
    const [alice, bob] = await friends()
    signals.opened(alice)
    await signals.forward(alice, signal('call_offer', [alice, bob]))
    clock.jump(86_400_000)
    take(bob)
    signals.opened(bob)
    await signals.forward(alice, signal('call_ice', [alice, bob]))
    expect(take(bob)).toHaveLength(2)
  })

  test('each offer wakes a disconnected callee, other signals do not, and a connected callee is not woken', async () => {
    const { signals, woken } = await open()
    const [alice, bob] = await friends()
    signals.opened(alice)
    await signals.forward(alice, signal('call_ice', [alice, bob]))
    await signals.forward(alice, signal('call_hangup', [alice, bob]))
    expect(woken).toEqual([])
    await signals.forward(alice, signal('call_offer', [alice, bob]))
    await signals.forward(alice, signal('call_ice', [alice, bob]))
    expect(woken).toEqual([bob.account])
    signals.opened(bob)
    await signals.forward(alice, signal('call_offer', [alice, bob]))
    expect(woken).toEqual([bob.account])
    signals.closed(bob)
    await Bun.sleep(0)
    await signals.forward(alice, signal('call_offer', [alice, bob]))
    expect(woken).toEqual([bob.account, bob.account])
  })

  test('an offer wakes nobody if it is from a stranger, or if its caller disconnects before it is forwarded', async () => {
    const { signals, woken, take } = await open()
    const [[alice, bob], eve] = [await friends(), await person()]
    for (const each of [alice, eve]) signals.opened(each)
    expect(String(await failureOf(signals.forward(eve, signal('call_offer', [eve, bob]))))).toContain(
      'NOT_FRIENDS',
    )
    const forwarding = signals.forward(alice, signal('call_offer', [alice, bob]))
    signals.closed(alice)
    await forwarding
    expect([woken, take(bob)]).toEqual([[], []])
  })

  test('an offer that is too large to keep wakes nobody, but reaches a connected callee', async () => {
    const { signals, woken, take } = await open({ offerBytes: 4096 })
    const [alice, bob] = await friends()
    signals.opened(alice)
    const large = signal('call_offer', [alice, bob], 'call', { more: 'x'.repeat(5000) })
    await signals.forward(alice, large)
    expect(woken).toEqual([])
    take(bob)
    signals.opened(bob)
    await signals.forward(alice, large)
    expect(take(bob)).toEqual([large.text])
  })

  test('the oldest offer is erased when all offers together are too large', async () => {
    const { signals, take } = await open({ allOffersBytes: 20_000, offerBytes: 9000 })
    const pairs = [await friends(), await friends(), await friends()]
    for (const pair of pairs) {
      signals.opened(pair[0])
      await signals.forward(pair[0], signal('call_offer', pair, 'call', { more: 'x'.repeat(8000) }))
    }
    const counts: number[] = []
    for (const [alice, bob] of pairs) {
      take(bob)
      signals.opened(bob)
      await signals.forward(alice, signal('call_hangup', [alice, bob], 'another'))
      counts.push(take(bob).length - 1)
    }
    expect(counts).toEqual([0, 1, 1])
  })

  test('waiting signals are counted in bytes, in any script', async () => {
    const { signals, take } = await open({ offerBytes: 4096 })
    const [alice, bob] = await friends()
    signals.opened(alice)
    const more = { more: '字'.repeat(1200) } // 3,600 bytes
    await signals.forward(alice, signal('call_offer', [alice, bob], 'call', more))
    await signals.forward(alice, signal('call_ice', [alice, bob], 'call', more))
    take(bob)
    signals.opened(bob)
    await signals.forward(alice, signal('call_hangup', [alice, bob], 'another'))
    expect(take(bob).map((text) => JSON.parse(text))).toMatchObject([
      { type: 'call_offer', ...more },
      { type: 'call_hangup' },
    ])
    signals.closed(bob)
    await Bun.sleep(0)
    const large = { more: '字'.repeat(1500) } // 4,500 bytes
    await signals.forward(alice, signal('call_offer', [alice, bob], 'call', large))
    take(bob)
    signals.opened(bob)
    const ice = signal('call_ice', [alice, bob], 'call', large)
    const forwarding = signals.forward(alice, ice)
    expect(signals.pendingOf(alice.account)).toBe(new TextEncoder().encode(ice.text).length)
    await forwarding
    expect(take(bob)).toEqual([ice.text])
  })

  test('accounts that fill the memory do not displace a small offer and its candidate', async () => {
    const { signals, take, woken } = await open({ allOffersBytes: 30_000, offerBytes: 9000 })
    const heavy: [Person, Person][] = []
    for (let i = 0; i < 5; i++) heavy.push(await friends())
    const fill = async (): Promise<void> => {
      for (const pair of heavy) {
        signals.opened(pair[0])
        await signals.forward(pair[0], signal('call_offer', pair, 'call', { more: 'x'.repeat(8000) }))
      }
    }
    await fill()
    const [alice, bob] = await friends()
    signals.opened(alice)
    const [offer, ice] = [signal('call_offer', [alice, bob]), signal('call_ice', [alice, bob])]
    await signals.forward(alice, offer)
    expect(woken.at(-1)).toBe(bob.account)
    await fill()
    await signals.forward(alice, ice)
    await fill()
    take(bob)
    signals.opened(bob)
    await signals.forward(alice, signal('call_hangup', [alice, bob], 'another'))
    expect(take(bob).slice(0, -1)).toEqual([offer.text, ice.text])
  })

  test('a large offer is not kept and wakes nobody if every other account uses less memory', async () => {
    const { signals, take, woken } = await open({ allOffersBytes: 8000, offerBytes: 7500 })
    const small: [Person, Person][] = []
    for (let i = 0; i < 5; i++) small.push(await friends())
    for (const pair of small) {
      signals.opened(pair[0])
      await signals.forward(pair[0], signal('call_offer', pair))
    }
    const heavy = await friends()
    signals.opened(heavy[0])
    await signals.forward(heavy[0], signal('call_offer', heavy, 'call', { more: 'x'.repeat(7000) }))
    expect(woken).toEqual(small.map(([, callee]) => callee.account))
    for (const [caller, callee] of small) {
      take(callee)
      signals.opened(callee)
      await signals.forward(caller, signal('call_hangup', [caller, callee], 'another'))
      expect(take(callee)).toHaveLength(2)
    }
  })

  test('signals count as pending until they are forwarded', async () => {
    const { signals } = await open()
    const [alice, bob] = await friends()
    signals.opened(alice)
    const ice = signal('call_ice', [alice, bob])
    const forwarding = [signals.forward(alice, ice), signals.forward(alice, ice)]
    expect(signals.pendingOf(alice.account)).toBe(ice.text.length * 2)
    await Promise.all(forwarding)
    expect(signals.pendingOf(alice.account)).toBe(0)
  })
})
