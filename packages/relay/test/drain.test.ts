// Stopping: the relay commits and answers the frames it accepted before it closes the connection with 1012.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { join } from 'node:path'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { encodeRawFrame, RawSocket } from './raw.ts'
import { startRelay } from './relay-process.ts'
import { call, message, WireAccount, wireFriends } from './wire.ts'

test('a stopping relay answers every message that it committed, then closes with 1012', async () => {
  const relay = await startRelay()
  const { alice, bob, conv } = await wireFriends(relay.url)
  const sender = await alice.connect()
  for (let n = 0; n < 5000; n++) sender.send(message(bob.alias, conv, 'x', `m${n}`))
  await sender.next('ack')
  expect(await relay.kill('SIGTERM')).toBe(0)
  expect((await sender.closed).code).toBe(1012)

  const acks = sender.frames.filter(({ type }) => type === 'ack').length + 1
  expect(acks).toBe(storedIn(relay.dataDir))
  await relay.stop()
})

test('answers that a client reads late still reach it before the close', async () => {
  const relay = await startRelay({
    env: { LIMIT_MAILBOX_MESSAGES: '1000000', LIMIT_SENT_IDS_PER_DAY: '1000000', DRAIN_SECONDS: '100' },
  })
  const { alice, bob, conv } = await wireFriends(relay.url)
  const raw = await RawSocket.open(alice)
  raw.socket.pause()
  for (let sent = 0; sent < 60_000; sent += 500) {
    const frames = Array.from({ length: 500 }, (_, n) => message(bob.alias, conv, 'x', `m${sent + n}`))
    const bytes = Buffer.concat(frames.map((frame) => encodeRawFrame(JSON.stringify(frame))))
    if (!raw.socket.write(bytes)) await Promise.race([once(raw.socket, 'drain'), Bun.sleep(1000)])
  }
  // After this time the relay has answered every frame it accepts, and most answers wait for the client.
  await Bun.sleep(300)
  const exit = relay.kill('SIGTERM')
  await Bun.sleep(100)
  raw.socket.resume()
  expect(await exit).toBe(0)
  await raw.ended

  expect(raw.text.split('"type":"ack"').length - 1).toBe(storedIn(relay.dataDir))
  await relay.stop()
})

test('requests in progress are answered, and the process ends even if clients stay connected', async () => {
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
  expect(await failureOf(call(`${relay.url}/health`))).toBeInstanceOf(Error)
  await relay.stop()
})

function storedIn(dataDir: string): number {
  const store = new Database(join(dataDir, 'sotto.db'), { readonly: true })
  const stored = store.prepare<{ count: number }, []>('SELECT COUNT(*) AS count FROM sent_ids').get()
  store.close()
  return stored?.count ?? -1
}
