// What the table of support says of Chromium. `expectSupport` compares it with what the browser has.
import { test } from 'bun:test'
import { expectSupport } from './engines/support.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld({}, { keepsApp: true })

test('Chromium has what the table of support says', async () => {
  const alice = await world.stranger('Alice')
  alice.expects(/Trusted/)
  await expectSupport('Chromium', (expression) => alice.page.evaluate(expression))
})
