// Pretended payments: announced in the log, and made two seconds after an order, once each.
import { expect, test } from 'bun:test'
import { anOrderId, openLedgerWorld } from '../../../test/ledger-world.ts'
import { clockAt } from '../../../test/mailbox-world.ts'
import { eventually, recordingLog } from '../../../test/payment-watch.ts'
import { systemClock } from '../../operations/clock.ts'
import { DevPayments } from './dev.ts'

test('an order counts as paid two seconds after it was opened, and not before', async () => {
  const moment = clockAt(systemClock.now())
  const book = await openLedgerWorld(moment)
  const { log, events } = recordingLog()
  const provider = new DevPayments({ clock: moment, log })
  const due = await book.place(provider, 5)
  moment.advance(2000)
  await book.place(provider, 7)
  await provider.start(book.ledger)
  try {
    await eventually(() => expect(book.status(due)).toBe('confirmed'))
    expect(book.lines()).toEqual([`dev/${due.order_id} 5000000 final`])
  } finally {
    await provider.stop()
    await book.close()
  }
  expect(events).toContainEqual(['warn', 'payments_are_pretended'])
})

test('a buyer reads that nothing is to be paid', async () => {
  const provider = new DevPayments({ clock: systemClock, log: recordingLog().log })
  const orderId = anOrderId(1)
  const to = await provider.open({ orderId, depositIndex: 0, price: 3, expiresAt: 1, title: 'the id ada' })
  expect(to).toEqual({
    payTo: expect.stringContaining('Nothing is to be paid'),
    asset: 'dev',
    amount: 3_000_000n,
  })
})
