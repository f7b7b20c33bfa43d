// What the log says of requests beyond a rate.
import { expect, test } from 'bun:test'
import { ProtocolError, rates } from '@sotto/protocol'
import { clockAt } from '../../test/mailbox-world.ts'
import type { LogFields } from '../operations/log.ts'
import { RelayMetrics } from '../operations/relay-metrics.ts'
import { noSecurityLog } from '../operations/security-log.ts'
import { RequestRates } from './request-rates.ts'

test('the log says at most once a minute which rate was exceeded, by whom, and how often', () => {
  const lines: [string, LogFields | undefined][] = []
  const add = (event: string, fields?: LogFields) => void lines.push([event, fields])
  const clock = clockAt(0)
  const log = { error: add, warn: add, info: add, debug: add }
  const requestRates = new RequestRates(
    { ...rates, pow: { burst: 1, perSeconds: 1_000_000 }, order: { burst: 1, perSeconds: 1_000_000 } },
    { clock, log, metrics: new RelayMetrics({ clock, log }), securityLog: noSecurityLog },
  )
  const isRefused = (name: 'pow' | 'order', who: string | number): boolean => {
    try {
      requestRates.take(name, who)
      return false
    } catch (error) {
      return error instanceof ProtocolError && error.code === 'RATE_LIMITED'
    }
  }
  expect([isRefused('pow', '192.0.2.1'), isRefused('order', 7)]).toEqual([false, false])
  expect(lines).toEqual([])
  for (let n = 0; n < 3; n++) expect(isRefused('pow', '192.0.2.1')).toBe(true)
  clock.advance(60_000)
  expect(isRefused('order', 7)).toBe(true)
  expect(lines).toEqual([
    ['rate_exceeded', { rate: 'pow', address: '192.0.2.1', count: 1 }],
    ['rate_exceeded', { rate: 'order', account: 7, count: 3 }],
  ])
})
