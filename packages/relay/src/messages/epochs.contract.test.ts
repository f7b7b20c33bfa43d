// Frames of replaced connections, on every engine: they have no effect, however late the store learns of the
// newer connection.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { engines } from '../../test/engines.ts'
import { type MailboxWorld, openMailboxWorld } from '../../test/mailbox-world.ts'
import { createInProcessBus, type InProcessBus } from '../cluster/in-process-bus.ts'
import { Epochs } from '../gateway/epochs.ts'
import type { Storage } from '../storage/storage.ts'

const TOKEN_END = 1_800_000_000_000

/** The bus of a node of this name, which hears some other nodes. */
function busOf(node: string, heard: readonly string[] = []): InProcessBus {
  return { ...createInProcessBus(), node, hears: (other) => heard.includes(other) }
}

for (const engine of engines) {
  describe(`epochs on ${engine.name}`, () => {
    let world: MailboxWorld
    let storage: Storage
    beforeEach(async () => {
      world = await openMailboxWorld(engine)
      storage = world.store.storage
    })
    afterEach(() => world.store.remove())

    const ownerOf = (person: 'alice' | 'bob', jti: string) => {
      return { account: world[person].id, jti, tokenExpiresAt: TOKEN_END }
    }

    test('grow with each connection of an account, also if several begin at the same time on two nodes', async () => {
      const nodes = [new Epochs({ storage, bus: busOf('a') }), new Epochs({ storage, bus: busOf('b') })]
      const begun = await Promise.all(
        Array.from({ length: 40 }, (_, i) => nodes[i % 2]?.begin(ownerOf(i < 20 ? 'alice' : 'bob', `t${i}`))),
      )
      const upTo20 = Array.from({ length: 20 }, (_, i) => i + 1)
      for (const part of [begun.slice(0, 20), begun.slice(20)])
        expect(part.map((each) => each?.epoch ?? 0).toSorted((a, b) => a - b)).toEqual(upTo20)
    })

    test('name the token that is replaced, but not one whose connection was closed or that came back', async () => {
      const epochs = new Epochs({ storage, bus: busOf('a') })
      expect(await epochs.begin(ownerOf('alice', 'phone'))).toEqual({ epoch: 1, replaced: undefined })
      expect(await epochs.begin(ownerOf('alice', 'phone'))).toEqual({ epoch: 2, replaced: undefined })
      const replaced = { jti: 'phone', tokenExpiresAt: TOKEN_END }
      expect(await epochs.begin(ownerOf('alice', 'desk'))).toEqual({ epoch: 3, replaced })
      epochs.end(world.alice.id, 2) // It is not the newest any more.
      epochs.end(world.alice.id, 3)
      await epochs.settled()
      expect(await epochs.begin(ownerOf('alice', 'phone'))).toEqual({ epoch: 4, replaced: undefined })
      await epochs.endAll([world.alice.id, world.bob.id])
      expect(await epochs.begin(ownerOf('alice', 'desk'))).toEqual({ epoch: 5, replaced: undefined })
      expect(await epochs.newestOf([world.alice.id, world.bob.id])).toEqual([
        { account: world.alice.id, epoch: 5, jti: 'desk' },
      ])
    })

    test('say who is connected at another node, as long as that node is heard', async () => {
      const [here, there, deaf] = [busOf('a', ['b']), busOf('b', ['a']), busOf('c')]
      const epochs = new Epochs({ storage, bus: here })
      const alice = world.alice.id
      expect(await epochs.isConnectedElsewhere(alice)).toBe(false)
      await epochs.begin(ownerOf('alice', 'desk'))
      const asked = [here, there, deaf].map((bus) => new Epochs({ storage, bus }).isConnectedElsewhere(alice))
      expect(await Promise.all(asked)).toEqual([false, true, false])
    })

    test('are not given to connections of a deleted account', async () => {
      await storage.transaction((sql) => sql`UPDATE accounts SET deleted_at = 1 WHERE id = ${world.alice.id}`)
      const epochs = new Epochs({ storage, bus: busOf('a') })
      expect(await epochs.begin(ownerOf('alice', 'desk'))).toBeUndefined()
    })

    test('of replaced connections let no frame have an effect', async () => {
      const { refusal, send, retract, receipt, alice, bob } = world
      const epochs = new Epochs({ storage, bus: busOf('a') })
      await epochs.begin(ownerOf('alice', 'phone'))
      await epochs.begin(ownerOf('bob', 'phone'))
      expect(await refusal({ ...send(alice, bob, 'a1'), epoch: 1 })).toBe('accepted')
      await epochs.begin(ownerOf('alice', 'desk'))
      await epochs.begin(ownerOf('bob', 'desk'))
      for (const old of [
        send(alice, bob, 'a2'),
        retract(alice, bob, 'a1'),
        receipt(bob, alice, 'delivered', 1),
      ])
        expect(await refusal({ ...old, epoch: 1 })).toBe('replaced')
      expect(await refusal({ ...send(alice, bob, 'a3'), epoch: 2 })).toBe('accepted')
      expect((await world.waitingFor(bob)).map(({ id }) => id)).toEqual(['a1', 'a3'])
    })

    test('of replaced connections let nothing that arrived be confirmed', async () => {
      const { run, send, retract, alice, bob, reader } = world
      const epochs = new Epochs({ storage, bus: busOf('a') })
      await epochs.begin(ownerOf('bob', 'phone'))
      await epochs.begin(ownerOf('bob', 'desk'))
      await run(send(alice, bob, 'a1'))
      await run(retract(alice, bob, 'a1'))
      const arrived = { retractionPosition: 9, noticeIds: new Set<number>(), receipts: new Map() }
      await reader.confirm(bob.id, arrived, 1)
      expect((await world.waitingFor(bob)).map(({ type }) => type)).toEqual(['retract'])
      await reader.confirm(bob.id, arrived, 2)
      expect(await world.waitingFor(bob)).toEqual([])
    })

    if (engine.name === 'PostgreSQL') {
      test('are checked after the conversation is locked, because a newer connection may begin while that waits', async () => {
        const { refusal, send, alice, bob } = world
        const epochs = new Epochs({ storage, bus: busOf('a') })
        await epochs.begin(ownerOf('alice', 'phone'))
        let late: Promise<string> | undefined
        await storage.transaction(async (sql) => {
          await sql`SELECT id FROM conversations WHERE conv_id = ${world.conv} FOR UPDATE`
          late = refusal({ ...send(alice, bob, 'a1'), epoch: 1 })
          await untilWaiting(storage)
          await epochs.begin(ownerOf('alice', 'desk'))
        })
        expect(await late).toBe('replaced')
      })
    }
  })
}

/** Resolves once a transaction waits for a lock. */
async function untilWaiting(storage: Storage): Promise<void> {
  for (;;) {
    const waiting = await storage.sql`
      SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    if (waiting.length > 0) return
  }
}
