// What the tests do when a WebDriver does not do what it should.
import { expect, test } from 'bun:test'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { WebDriverTab } from './webdriver.ts'

test('a driver that is silent fails the command by its name', async () => {
  const silent = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Promise<Response>(() => undefined),
  })
  try {
    const begun = WebDriverTab.begin(`http://127.0.0.1:${silent.port}`, 100)
    expect(await failureOf(begun)).toMatchObject({
      message: 'POST /session: the driver has not answered for 0.1 s',
    })
  } finally {
    await silent.stop(true)
  }
})
