// `npm run bench -- queue`: how long a client takes to send the messages that it queued while it was offline,
// to a relay that is far away. Where a relay does not check the order of messages, the same client waits for
// each acknowledgement. The floor sends as many frames at once and counts their answers.
import type { FetchLike } from '../packages/client/src/client.ts'
import { Person, until } from '../packages/client/test/people.ts'
import type { Bench } from './bench.ts'
import { startDelayedLine } from './delayed-line.ts'
import { RawSocket } from './load/raw-socket.ts'
import { median, ratio } from './measure.ts'
import { startFloor, startMeasuredRelay } from './server-process.ts'

const MESSAGES = 500
const TEXT = 'x'.repeat(270) // 400 characters of payload.
const ROUND_TRIP_MS = 100
const ROUNDS = 5
const PATIENCE_MS = 300_000

export const queue: Bench = {
  means:
    'a client sends 500 queued messages at 100 ms round trip, and a relay without `after`; against the floor',
  run: async () => {
    // With the default rates: the messages at once are as many as these allow.
    const relay = await startMeasuredRelay({ RATE_LIMITS: 'on', RATE_REGISTER: '1000/1' })
    const floor = await startFloor()
    const [toRelay, toFloor] = [
      await startDelayedLine(relay.url, ROUND_TRIP_MS),
      await startDelayedLine(floor.url, ROUND_TRIP_MS),
    ]
    const [clients, floors]: [number[], number[]] = [[], []]
    for (let round = 0; round < ROUNDS; round += 1) {
      clients.push(await sendQueued(toRelay.url, relay.url))
      floors.push(await sendAtOnce(toFloor.url))
    }
    const older = await sendQueued(toRelay.url, relay.url, withoutFeatures)
    for (const line of [toRelay, toFloor]) line.stop()
    for (const server of [relay, floor]) await server.stop()
    const row = (what: string, ms: number) => ({
      what,
      'ms until all are acknowledged': Math.round(ms),
      'to floor': ratio(ms / median(floors)),
    })
    return {
      settings: { messages: MESSAGES, textBytes: TEXT.length, roundTripMs: ROUND_TRIP_MS, rounds: ROUNDS },
      rows: [
        row('the client', median(clients)),
        row('the client and a relay without `after`, one round', older),
        row('the floor', median(floors)),
      ],
    }
  },
}

/** The answers of an older relay: without the list of its features. */
const withoutFeatures: FetchLike = async (url, init) => {
  const answer = await fetch(url, init)
  if (!url.endsWith('/ws/ticket')) return answer
  const { ticket, expires_in } = await answer.json()
  return Response.json({ ticket, expires_in })
}

/**
 * Queues the messages at a client without a connection, and connects it. @returns the milliseconds from the
 * open connection to the last acknowledgement
 */
async function sendQueued(farUrl: string, nearUrl: string, fetch?: FetchLike): Promise<number> {
  const from = await Person.join('from', farUrl, fetch ? { fetch } : {})
  const to = await Person.join('to', nearUrl)
  await from.befriend(to)
  from.client.disconnect()
  for (let count = 0; count < MESSAGES; count += 1) await from.client.send(to.alias, TEXT)
  let openedAt = 0
  from.client.on('network_state', (state) => {
    if (state === 'connected') openedAt = performance.now()
  })
  let left = MESSAGES
  const done = new Promise<number>((resolve) => {
    from.client.on('status_change', ({ previous }) => {
      if (previous === 'sending') left -= 1
      if (left === 0) resolve(performance.now())
    })
  })
  from.client.connect()
  const doneAt = await done
  await until('all have arrived', () => to.heard.message.length === MESSAGES, PATIENCE_MS)
  for (const { client } of [from, to]) await client.close()
  return doneAt - openedAt
}

/** Sends as many frames at once to the floor. @returns the milliseconds until the last answer */
async function sendAtOnce(url: string): Promise<number> {
  let left = MESSAGES
  let resolve = (): void => undefined
  const done = new Promise<void>((settle) => {
    resolve = settle
  })
  const socket = await RawSocket.open(`${url}/ws?user_uuid=from`, () => {
    left -= 1
    if (left === 0) resolve()
  })
  const conv_id = crypto.randomUUID()
  const payload = 'A'.repeat(400)
  const startedAt = performance.now()
  for (let count = 0; count < MESSAGES; count += 1) {
    socket.send(JSON.stringify({ type: 'msg', id: `m${count}`, to: 'nobody', conv_id, crypto_v: 1, payload }))
  }
  await done
  socket.close()
  return performance.now() - startedAt
}
