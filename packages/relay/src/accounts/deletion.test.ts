// What a deleted account left is found through indexes: on SQLite, a query that reads a whole table stops the
// event loop for as long as that takes.
import { expect, test } from 'bun:test'
import { defaultLimits } from '@sotto/protocol'
import { engines } from '../../test/engines.ts'
import { clockAt } from '../../test/mailbox-world.ts'
import { explainingStorage, type PlanStep } from '../../test/query-plans.ts'
import { endChannels, eraseChannels } from '../channels/channels.ts'
import { eraseFriendships } from '../friends/friends.ts'
import { eraseMedia } from '../media/media.ts'
import { eraseMailbox } from '../messages/messages.ts'
import { systemRandom } from '../operations/random.ts'
import { eraseOrders } from '../payments/payments.ts'
import { erasePush } from '../push/push.ts'
import { addAccount, findAccountByKey } from './accounts.ts'

test('deleting an account on SQLite reads no table as a whole, neither in the first transaction nor afterwards', async () => {
  const sqlite = engines.find(({ name }) => name === 'SQLite')
  if (!sqlite) throw new Error('there is no SQLite')
  const store = await sqlite.open()
  const parts = { clock: clockAt(1), randomBytes: systemRandom, limits: defaultLimits() }
  const account = await store.storage.transaction(async (sql) => {
    await addAccount(sql, { ed25519PublicKey: 'e', x25519PublicKey: 'x', nickname: 'n' }, parts)
    return await findAccountByKey(sql, 'e')
  })
  if (!account) throw new Error('no account was added')
  const plans: PlanStep[][] = []
  const storage = explainingStorage(store.storage, plans)
  for (const end of [eraseOrders, endChannels, erasePush])
    await storage.transaction((sql) => end(sql, account.id, parts))
  for (const erase of [eraseMailbox, eraseFriendships, eraseChannels, eraseMedia])
    await erase(account.id, { ...parts, storage, signal: new AbortController().signal })
  await store.remove()

  expect(plans.length).toBeGreaterThan(10)
  expect(plans.flat().filter(({ detail }) => detail.startsWith('SCAN'))).toEqual([])
})
