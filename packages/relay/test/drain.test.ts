// Stopping: what was taken in is committed and answered before the connection closes with 1012.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { startRelay } from './relay-process.ts'
import { call, message, WireAccount, wireFriends } from './wire.ts'

test('a stopping relay answers all that it committed, then closes with 1012', async () => {
  const relay = await startRelay()
  const { alice, bob, conv } = await wireFriends(relay.url)
  const sender = await alice.connect()
  for (let n = 0; n < 5000; n++) sender.send(message(bob.alias, conv, 'x', `m${n}`))
  await sender.next('ack')
  expect(await relay.kill('SIGTERM')).toBe(0)
  expect((await sender.closed).code).toBe(1012)

  const store = new Database(join(relay.dataDir, 'sotto.db'), { readonly: true })
  const stored = store.prepare<{ count: number }, []>('SELECT COUNT(*) AS count FROM sent_ids').get()
  store.close()
  const acks = sender.frames.filter(({ type }) => type === 'ack').length + 1
  expect(acks).toBe(stored?.count ?? 0)
  await relay.stop()
})

test('requests that are under way are answered, and the process ends though clients stay connected', async () => {
  const relay = await startRelay()
  const account = new WireAccount(relay.url)
  await account.register()
  await account.login()
  const socket = await account.connect()
  const asked = Array.from({ length: 50 }, () => account.get('/me').catch(() => undefined))
  const exit = relay.kill('SIGTERM')
  for (const answer of await Promise.all(asked)) {
    if (answer) expect([200, 503]).toContain(answer.status)
  }
  expect(await exit).toBe(0)
  expect((await socket.closed).code).toBe(1012)
  await expect(call(`${relay.url}/health`)).rejects.toThrow()
  await relay.stop()
})
