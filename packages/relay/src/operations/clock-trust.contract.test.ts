// Trust in the clock, on every engine: it is lost when the clock jumps, and only the operator restores it.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { engines, type TestStore } from '../../test/engines.ts'
import { clockAt } from '../../test/mailbox-world.ts'
import { ClockTrust, trustClockAgain } from './clock-trust.ts'
import { createLog } from './log.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

for (const engine of engines) {
  describe(`trust in the clock on ${engine.name}`, () => {
    let store: TestStore
    let clock: ReturnType<typeof clockAt>
    let trust: ClockTrust

    beforeEach(async () => {
      store = await engine.open()
      clock = clockAt(1_800_000_000_000)
      trust = open()
    })
    afterEach(() => store.remove())

    const open = (): ClockTrust => new ClockTrust({ storage: store.storage, clock, log: createLog('silent') })

    test('trust is kept while time passes, and when the clock is set by less than an hour', async () => {
      clock.advance(400 * DAY_MS)
      clock.jump(HOUR_MS - 1)
      await trust.check()
      expect([await trust.isTrusted(), await trust.isLost()]).toEqual([true, false])
    })

    for (const hours of [2, -2])
      test(`a jump by ${hours} hours loses the trust at once, before any check`, async () => {
        clock.jump(hours * HOUR_MS)
        expect([await trust.isTrusted(), await trust.isLost()]).toEqual([false, false])
      })

    test('lost trust stays lost when the clock is set back, and after a restart', async () => {
      clock.jump(400 * DAY_MS)
      await trust.check()
      clock.jump(-400 * DAY_MS)
      await trust.check()
      expect([await trust.isTrusted(), await trust.isLost()]).toEqual([false, true])
      trust = open()
      await trust.check()
      expect([await trust.isTrusted(), await trust.isLost()]).toEqual([false, true])
    })

    test('the operator restores the trust, and the current time then counts as right', async () => {
      clock.jump(2 * HOUR_MS)
      await trust.check()
      await trust.check()
      await trustClockAgain(store.storage)
      clock.advance(31 * DAY_MS)
      await trust.check()
      expect([await trust.isTrusted(), await trust.isLost()]).toEqual([true, false])
      clock.jump(2 * HOUR_MS)
      expect(await trust.isTrusted()).toBe(false)
    })

    test('the operator can restore the trust before the next check', async () => {
      clock.jump(2 * HOUR_MS)
      await trust.check()
      await trustClockAgain(store.storage)
      await trust.check()
      expect([await trust.isTrusted(), await trust.isLost()]).toEqual([true, false])
    })
  })
}
