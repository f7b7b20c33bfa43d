// Confirmations of several connections at the same time, also while the relay stops.
import { expect, jest, setSystemTime, test } from 'bun:test'
import { createInProcessBus } from '../cluster/in-process-bus.ts'
import { systemClock } from '../operations/clock.ts'
import { createLog } from '../operations/log.ts'
import type { AccountId } from '../storage/storage.ts'
import type { DeliveredConnection } from './connection-delivery.ts'
import { type ConfirmingReader, Deliveries } from './deliveries.ts'

const PING_EVERY_MS = 5000

test('the relay stops only after every confirmation is stored, not only the last one', async () => {
  jest.useFakeTimers()
  try {
    const confirmations: (() => void)[] = []
    const reader: ConfirmingReader = {
      lastPosition: async () => 0,
      read: async () => [],
      readConversation: async () => [],
      readReceipts: async () => [],
      readNotices: async () => [],
      readUnsuspended: async () => new Set(),
      readDue: async () => [],
      confirm: () => new Promise((resolve) => confirmations.push(resolve)),
    }
    const bus = createInProcessBus()
    const deliveries = new Deliveries({
      reader,
      bus,
      limits: { windowBytes: 1000, unlistedSeconds: 30, listedSeconds: 1 },
      clock: systemClock,
      log: createLog('silent'),
      incarnation: 'one',
    })
    const connections = [1, 2].map((account) => connectionOf(account as AccountId))
    for (const connection of connections) {
      deliveries.opened(connection)
      bus.ring(connection.account, { kind: 'notice', id: 1, frame: '{}' })
    }
    jest.advanceTimersByTime(PING_EVERY_MS)
    for (const connection of connections) {
      deliveries.pongReceived(connection)
      deliveries.frameReceived(connection)
      deliveries.frameReceived(connection)
    }
    expect(confirmations).toHaveLength(2)

    let hasStopped = false
    const stopping = deliveries.stop().then(() => {
      hasStopped = true
    })
    confirmations[1]?.()
    await settled()
    expect(hasStopped).toBe(false)
    confirmations[0]?.()
    await stopping
  } finally {
    jest.useRealTimers()
    setSystemTime()
  }
})

/** Lets the code continue that waits for promises which have settled. */
async function settled(): Promise<void> {
  for (let tick = 0; tick < 20; tick++) await Promise.resolve()
}

function connectionOf(account: AccountId): DeliveredConnection {
  return {
    account,
    epoch: undefined,
    untilEpoch: undefined,
    bufferedBytes: 0,
    send: () => undefined,
    sendAll: () => undefined,
    flush: () => undefined,
    ping: () => undefined,
    close: () => undefined,
  }
}
