// Long replies of one account: one after the other, and no more bytes than the rate and one reply.
import { expect, test } from 'bun:test'
import { ProtocolError, rates } from '@sotto/protocol'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { recordingLog } from '../../test/payment-watch.ts'
import { RelayMetrics } from '../operations/relay-metrics.ts'
import { noSecurityLog } from '../operations/security-log.ts'
import { LongReplies } from './long-replies.ts'
import { RequestRates } from './request-rates.ts'

const REPLY = 'x'.repeat(998) // 1,000 bytes as JSON.

function longReplies(burst: number): LongReplies {
  const inForce = { ...rates, longReply: { burst, perSeconds: 3600 } }
  const clock = { now: () => 0, monotonic: () => 0 }
  const { log } = recordingLog()
  const metrics = new RelayMetrics({ clock, log })
  return new LongReplies(new RequestRates(inForce, { clock, log, metrics, securityLog: noSecurityLog }))
}

/** Makes replies that wait, as one that is read in pages does. */
function waitingReplies() {
  const made: { readonly account: number; finish(): void }[] = []
  const make = (account: number) => (): Promise<string> =>
    new Promise((resolve) => made.push({ account, finish: () => resolve(REPLY) }))
  return { made, make }
}

/** Lets everything run that waits for nothing else. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('that are asked for at the same time are made one after the other, until the rate is used up', async () => {
  const replies = longReplies(1500)
  const { made, make } = waitingReplies()
  const asked = [1, 1, 1, 1, 2].map((account) => replies.write(account, make(account)))
  const settled = Promise.allSettled(asked)
  await settle()
  expect(made.map(({ account }) => account)).toEqual([1, 2])
  for (const { finish } of made.splice(0)) finish()
  for (let turns = 0; made.length === 0 && turns < 10; turns++) await settle()
  expect(made.map(({ account }) => account)).toEqual([1])
  made[0]?.finish()
  const results = await settled
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ])
  const [, , refused] = results
  expect(refused?.status === 'rejected' && refused.reason).toBeInstanceOf(ProtocolError)
  expect(made).toHaveLength(1)
})

test('that need no waiting let other work run in between', async () => {
  const replies = longReplies(1_000_000)
  const events: string[] = []
  let isOver = false
  const turn = (): void => {
    events.push('turn')
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const make = (): Promise<string> => {
    events.push('reply')
    return Promise.resolve(REPLY)
  }
  await Promise.all(Array.from({ length: 20 }, () => replies.write(1, make)))
  isOver = true
  expect(events.filter((event) => event === 'reply')).toHaveLength(20)
  expect(events.join(' ')).not.toContain('reply reply')
})

test('one that fails costs nothing, and the next one is made', async () => {
  const replies = longReplies(500)
  const failed = replies.write(1, () => Promise.reject(new Error('the store is gone')))
  const next = replies.write(1, () => Promise.resolve(['next']))
  expect(await failureOf(failed)).toMatchObject({ message: 'the store is gone' })
  expect(await next).toBe('["next"]')
})
