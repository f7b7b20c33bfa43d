// The relay's keys on both engines: how they are made, replaced, found by other nodes, and deleted.
import { afterEach, describe, expect, test } from 'bun:test'
import { engines, type TestStore } from '../../test/engines.ts'
import { createInProcessBus } from '../cluster/in-process-bus.ts'
import { systemRandom } from '../operations/random.ts'
import { openRelayKeys, RelayKeyRings, ROTATED, type RotatedPurpose } from './relay-keys.ts'

const SECOND = 1000
const DAY = 86_400 * SECOND
const LIVES = { token: DAY, challenge: 60 * SECOND, media: 900 * SECOND }

for (const engine of engines) {
  describe(`the relay’s keys on ${engine.name}`, () => {
    let store: TestStore | undefined
    afterEach(async () => {
      await store?.remove()
    })

    async function world() {
      store = await engine.open()
      const { storage } = store
      const time = { now: 1_800_000_000_000 }
      const subscriptions = new Map<string, number>()
      const parts = {
        storage,
        clock: { now: () => time.now, monotonic: () => 0 },
        randomBytes: systemRandom,
        makeVapidSecret: () => new Uint8Array([1, 2, 3]),
        countSubscriptions: async (_sql: unknown, kid: string) => subscriptions.get(kid) ?? 0,
      }
      const node = () => RelayKeyRings.open({ ...parts, bus: createInProcessBus() })
      return { storage, parts, time, subscriptions, node, here: await node() }
    }
    const kidsOf = (rings: RelayKeyRings, purpose: RotatedPurpose): string[] =>
      rings.live(purpose).current.map(({ kid }) => kid)

    test('the newest signs, also if the clock was set back, and the older ones stay', async () => {
      const { time, here, node } = await world()
      const keys = here.live('token')
      const kids = kidsOf(here, 'token')
      for (const now of [time.now, time.now - DAY, time.now + 1]) {
        time.now = now
        await here.rotate('token', { dropsOld: false })
        expect(kidsOf(here, 'token').slice(1)).toEqual(kids)
        expect(keys.current[0].kid).toBe(kidsOf(here, 'token')[0] ?? '')
        kids.unshift(keys.current[0].kid)
      }
      expect(kidsOf(await node(), 'token')).toEqual(kids)
      expect(kidsOf(here, 'challenge')).toHaveLength(1)
    })

    test('a VAPID key is made by its own rule', async () => {
      const { here } = await world()
      await here.rotate('vapid', { dropsOld: true })
      expect(here.live('vapid').current.map(({ secret }) => [...secret])).toEqual([[1, 2, 3]])
    })

    test('another node finds a rotation, and closes connections only if keys of tokens were dropped', async () => {
      const { here, node } = await world()
      const there = await node()
      const revoked = { times: 0 }
      there.onTokensRevoked = () => {
        revoked.times++
      }
      for (const [purpose, dropsOld, times] of [
        ['token', false, 0],
        ['media', true, 0],
        ['token', true, 1],
        ['challenge', false, 1],
        ['token', true, 2],
      ] as const) {
        await here.rotate(purpose, { dropsOld })
        expect(kidsOf(there, purpose)).not.toEqual(kidsOf(here, purpose))
        await there.check()
        expect(kidsOf(there, purpose)).toEqual(kidsOf(here, purpose))
        await there.check()
        expect(revoked.times).toBe(times)
      }
      // A node that starts later has no old connections.
      const later = await node()
      later.onTokensRevoked = () => {
        throw new Error('nothing was revoked since it started')
      }
      await later.check()
    })

    test('two nodes that rotate or start at once agree on the keys', async () => {
      const { here, node, storage, parts } = await world()
      const there = await node()
      await Promise.all([here, there, here, there].map((each) => each.rotate('media', { dropsOld: false })))
      await Promise.all([here.check(), there.check()])
      expect(kidsOf(here, 'media')).toHaveLength(5)
      expect(kidsOf(there, 'media')).toEqual(kidsOf(here, 'media'))
      const opened = await Promise.all([1, 2, 3].map(() => openRelayKeys(storage, 'reserve', parts)))
      expect(new Set(opened.map(([{ kid }]) => kid)).size).toBe(1)
    })

    test('an old key is deleted once nothing that it signed is valid, and not before', async () => {
      const { time, here } = await world()
      for (const purpose of ROTATED) await here.rotate(purpose, { dropsOld: false })
      const left = () => Object.fromEntries(ROTATED.map((purpose) => [purpose, kidsOf(here, purpose).length]))
      const start = time.now
      for (const [after, expected] of [
        [0, { token: 2, challenge: 2, media: 2, vapid: 2 }],
        [600 * SECOND, { token: 2, challenge: 2, media: 2, vapid: 2 }],
        [661 * SECOND, { token: 2, challenge: 1, media: 2, vapid: 2 }],
        [1501 * SECOND, { token: 2, challenge: 1, media: 1, vapid: 2 }],
        [DAY + 599 * SECOND, { token: 2, challenge: 1, media: 1, vapid: 2 }],
        [DAY + 601 * SECOND, { token: 1, challenge: 1, media: 1, vapid: 1 }],
        [400 * DAY, { token: 1, challenge: 1, media: 1, vapid: 1 }],
      ] as const) {
        time.now = start + after
        await here.deleteUnused(LIVES)
        expect([after, left()]).toEqual([after, expected])
      }
    })

    test('an old VAPID key stays for as long as a subscription was made with it', async () => {
      const { time, here, subscriptions } = await world()
      const [old = ''] = kidsOf(here, 'vapid')
      await here.rotate('vapid', { dropsOld: false })
      subscriptions.set(old, 1)
      time.now += 100 * DAY
      await here.deleteUnused(LIVES)
      expect(kidsOf(here, 'vapid')).toContain(old)
      expect((await here.list()).filter(({ purpose }) => purpose === 'vapid')).toMatchObject([
        { signs: true, subscriptions: 0 },
        { kid: old, signs: false, subscriptions: 1 },
      ])
      subscriptions.delete(old)
      await here.deleteUnused(LIVES)
      expect(kidsOf(here, 'vapid')).not.toContain(old)
    })
  })
}
