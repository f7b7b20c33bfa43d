// Pretended payments: said aloud, two seconds after an order, once each.
import { expect, test } from 'bun:test'
import { PaymentBook } from '../../../test/payment-book.ts'
import { eventually, recordingLog } from '../../../test/payment-watch.ts'
import { systemClock } from '../../operations/clock.ts'
import { DevPayments } from './dev.ts'

test('an order counts as paid two seconds after it was opened, and not before', async () => {
  const book = new PaymentBook()
  const { log, events } = recordingLog()
  const provider = new DevPayments({ clock: systemClock, log })
  const now = Date.now()
  const due = book.add({ asset: 'dev', amount: 5_000_000n, createdAt: now - 2000 })
  book.add({ asset: 'dev', amount: 7_000_000n, createdAt: now + 3_600_000 })
  await provider.start(book)
  try {
    await eventually(() => expect(book.lines()).toEqual([`dev/${due} 5000000 final`]))
  } finally {
    await provider.stop()
  }
  expect(events).toContainEqual(['warn', 'payments_are_pretended'])
})

test('a buyer reads that nothing is to be paid', async () => {
  const provider = new DevPayments({ clock: systemClock, log: recordingLog().log })
  const orderId = new PaymentBook().add({})
  const to = await provider.open({ orderId, depositIndex: 0, price: 3, expiresAt: 1, title: 'the id ada' })
  expect(to).toEqual({
    payTo: expect.stringContaining('Nothing is to be paid'),
    asset: 'dev',
    amount: 3_000_000n,
  })
})
