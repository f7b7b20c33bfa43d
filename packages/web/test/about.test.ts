// What the app says about itself: its version, its relay, and whose work is in it.
import { expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { packageFolder } from '../../../scripts/package-licences.ts'
import { builtApp } from './built-app.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

/**
 * Packages of which nothing gets into the app: for documents of the protocol, for command lines, and for
 * suites of MLS that are not ours.
 */
const UNUSED = ['@hpke/common', '@hpke/core', '@valibot/to-json-schema', 'argparse']

/** The packages that the app and its library depend on, and what these depend on. */
async function dependencies(): Promise<readonly string[]> {
  const found = new Set<string>()
  const follow = async (path: string): Promise<void> => {
    const { dependencies: names = {} } = JSON.parse(await readFile(join(path, 'package.json'), 'utf8'))
    for (const name of Object.keys(names)) {
      if (found.has(name)) continue
      found.add(name)
      await follow(dirname(createRequire(join(path, 'package.json')).resolve(`${name}/package.json`)))
    }
  }
  await follow(join(import.meta.dir, '..'))
  return [...found].filter((name) => !name.startsWith('@sotto/')).sort()
}

test('every package that the app depends on is listed with the text of its licence', async () => {
  const listed = JSON.parse(await readFile(join(builtApp(), 'licences.json'), 'utf8'))
  expect(listed.map(({ name }: { name: string }) => name)).toEqual(
    (await dependencies()).filter((name) => !UNUSED.includes(name)),
  )
  for (const { text } of listed) expect(text).toMatch(/permission|redistribution|licensed/i)
})

test('a module belongs to the innermost package around it', () => {
  expect(packageFolder('/a/node_modules/b/node_modules/@c/d/e.js?x')).toBe(
    '/a/node_modules/b/node_modules/@c/d',
  )
  expect(packageFolder('/a/packages/web/src/main.tsx')).toBeUndefined()
})

test('the versions and the licences are shown', async () => {
  const alice = await world.joins('Alice')
  await alice.goesTo('#/settings/about')
  const { version } = await (await fetch(`${world.relay.url}/health`)).json()
  await alice.reads(alice.t.device.relayVersion)
  await alice.reads(String(version))
  await alice.presses(alice.t.device.licencesShow)
  await alice.page.getByText(/^preact /).click()
  await alice.page.getByText(/Jason Miller/).waitFor()
})
