// Invites in the store, on both engines: what is kept of them, and for how long.
import { afterEach, describe, expect, test } from 'bun:test'
import { engines, type TestStore } from '../../test/engines.ts'
import { addAccount } from '../accounts/accounts.ts'
import { systemRandom } from '../operations/random.ts'
import type { AccountId } from '../storage/storage.ts'
import { endInvitesOf, eraseEndedInvites, makeInvite, revokeInvite, useInvite } from './invites.ts'

const DAY_MS = 86_400_000

for (const engine of engines) {
  describe(`invites on ${engine.name}`, () => {
    let store: TestStore | undefined
    afterEach(() => store?.remove())

    async function world() {
      store = await engine.open()
      const { storage } = store
      const time = { now: 1_800_000_000_000 }
      const clock = { now: () => time.now, monotonic: () => 0 }
      const parts = { clock, randomBytes: systemRandom }
      const keys = { ed25519PublicKey: 'signs', x25519PublicKey: 'agrees' }
      await storage.transaction((sql) => addAccount(sql, { ...keys, nickname: 'member' }, parts))
      const [member] = await storage.sql<{ id: AccountId }>`SELECT id FROM accounts`
      if (!member) throw new Error('the member is missing')
      const make = (note: string, account: AccountId | null = null, days: number | null = null) =>
        storage.transaction((sql) =>
          makeInvite(
            sql,
            { account, note, uses: 1, expiresAt: days === null ? null : time.now + days * DAY_MS },
            parts,
          ),
        )
      const use = ({ code }: { code: string }) => storage.transaction((sql) => useInvite(sql, code, time.now))
      const notes = async (): Promise<string[]> => {
        const rows = await storage.sql<{ note: string }>`SELECT note FROM invites ORDER BY note`
        return rows.map(({ note }) => note)
      }
      return { storage, time, clock, member: member.id, make, use, notes }
    }

    test('the store does not have their codes', async () => {
      const { storage, make } = await world()
      const { code } = await make('one')
      expect(code).toMatch(/^[0-9a-f]{32}$/)
      expect(JSON.stringify(await storage.sql`SELECT * FROM invites`)).not.toContain(code)
    })

    test('those that can be used no more are forgotten after 30 days, except those that count for a member', async () => {
      const { storage, time, clock, member, make, use, notes } = await world()
      const made = { used: await make('used'), revoked: await make('revoked') }
      await make('ended', null, 1)
      await make('lasting')
      const counted = await make('used, of a member', member)
      await make('ended, of a member', member, 1)
      expect([await use(made.used), await use(counted)]).toEqual(['open', 'open'])
      await storage.transaction((sql) => revokeInvite(sql, made.revoked.invite.invite_id, time.now))
      time.now += 30 * DAY_MS - 1
      await eraseEndedInvites({ storage, clock })
      expect(await notes()).toHaveLength(6)
      time.now += DAY_MS + 1
      await eraseEndedInvites({ storage, clock })
      expect(await notes()).toEqual(['lasting', 'used, of a member'])
    })

    test('those of an account are deleted with it', async () => {
      const { storage, member, make, use, notes } = await world()
      await make('of nobody')
      const made = await make('of a member', member)
      await storage.transaction((sql) => endInvitesOf(sql, member))
      expect([await notes(), await use(made)]).toEqual([['of nobody'], 'unknown'])
    })
  })
}
