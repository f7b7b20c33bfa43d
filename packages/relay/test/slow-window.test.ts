// The window is smaller than a page: the relay must not wait for bytes that it has only written ahead (found
// by bench/faults).
import { afterAll, expect, test } from 'bun:test'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { message, wireFriends } from './wire.ts'

let relay: RelayProcess | undefined
afterAll(() => relay?.stop())

test('a backlog larger than the window reaches a client that reads without delay', async () => {
  relay = await startRelay({
    env: { LIMIT_WINDOW_BYTES: '16384', LIMIT_FRAME_BYTES: '65536', LIMIT_OUTBOUND_BYTES: '262144' },
  })
  const { alice, bob, conv } = await wireFriends(relay.url)
  const sender = await alice.connect()
  for (let n = 0; n < 60; n++)
    sender.send(message(bob.alias, conv, n < 8 ? 'small' : 'x'.repeat(1000), `m${n}`))
  for (let n = 0; n < 60; n++) await sender.next('ack')
  const reader = await bob.connect()
  expect(await reader.next('sync_end')).toEqual({ type: 'sync_end', count: 60 })
  expect(reader.frames.map(({ id }) => id)).toEqual(Array.from({ length: 60 }, (_, n) => `m${n}`))
})
