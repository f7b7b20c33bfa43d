// The page's policy: no text becomes a script or markup, and no script can make a policy of its own.
import { expect, test } from 'bun:test'
import { AppWorld } from './world.ts'

const world = new AppWorld({}, { keepsApp: true })

test('the browser refuses texts as scripts and as markup, and every other policy', async () => {
  const alice = await world.stranger('Alice')
  alice.expects(/Trusted|trusted|Content Security Policy|unsafe-eval/)
  const done = await alice.page.evaluate(async () => {
    // Chromium lets a debugger's own call use `eval`. What runs after it is the page's.
    await new Promise((resolve) => setTimeout(resolve))
    const types: unknown = Reflect.get(globalThis, 'trustedTypes')
    const makePolicy = (name: string) => (): unknown =>
      Reflect.apply(Reflect.get(Object(types), 'createPolicy'), types, [name, { createScriptURL: String }])
    const attempts: Record<string, () => unknown> = {
      worker: () => new Worker('./assets/any.js'),
      'service worker': () => navigator.serviceWorker.register('./service-worker.js'),
      markup: () => {
        document.createElement('div').innerHTML = '<b>x</b>'
      },
      eval: () => Reflect.apply(Reflect.get(globalThis, 'eval'), undefined, ['1']),
      'another policy': makePolicy('another'),
      'the same policy again': makePolicy('sotto'),
    }
    const names: string[] = []
    for (const [name, attempt] of Object.entries(attempts)) {
      try {
        await attempt()
        names.push(name)
      } catch {
        // Refused, as it should be.
      }
    }
    return names
  })
  expect(done).toEqual([])
})
