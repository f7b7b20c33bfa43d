// The app below a path of its host, behind a proxy that removes the path.
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { openPathProxy, type PathProxy } from '@sotto/relay/testing/path-proxy'
import { sharedChromium } from '../../client/test/browser/shared-chromium.ts'
import { AppPerson } from './app-person.ts'
import { AppStage } from './app-stage.ts'

setDefaultTimeout(240_000)
const stage = new AppStage()
const people: AppPerson[] = []
let proxy: PathProxy

beforeAll(async () => {
  proxy = await openPathProxy()
  await stage.start({ PUBLIC_URL: proxy.url, TRUST_PROXY: '1' })
  proxy.leadTo(stage.relay.url)
})
afterEach(async () => {
  for (const person of people.splice(0)) {
    await person.context.close()
    expect(person.complaints).toEqual([])
  }
})
afterAll(async () => {
  await stage.stop()
  proxy?.close()
})

async function comes(name: string): Promise<AppPerson> {
  const context = await (await sharedChromium()).newContext(AppPerson.settings({}))
  const person = new AppPerson(name, context, `${proxy.url}/`, { keepsApp: true })
  people.push(person)
  await person.comes()
  await person.registers()
  return person
}

test('two people talk, and the app keeps itself for offline use, all below the path', async () => {
  const [alice, bob] = [await comes('Alice'), await comes('Bob')]
  await alice.befriends(bob)
  await alice.opens('Bob')
  await alice.writes('Below the path')
  await bob.opens('Alice')
  await bob.sees('Below the path')
  const scope = await alice.page.evaluate(async () => (await navigator.serviceWorker.ready).scope)
  expect(scope).toBe(`${proxy.url}/`)
  expect(proxy.strays).toEqual([])
})
