// That the app is built to the same bytes in every folder, and that another app at a server is noticed.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { appFolder, ensureApp } from './app-build.mjs'
import { copySources } from './copy-sources.ts'
import { differencesAt } from './verify-app.ts'
import { filesIn } from './web-app/finish-build.ts'

// A build takes seconds, and much longer on a busy machine.
setDefaultTimeout(240_000)

let folder = ''
beforeAll(async () => {
  ensureApp()
  folder = await mkdtemp(join(tmpdir(), 'sotto-verify-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the app is built to the same bytes in another folder', async () => {
  const copy = join(folder, 'another place/sotto')
  await copySources(copy)
  const { status, stderr } = spawnSync(process.execPath, [join(copy, 'scripts/build.ts'), 'app'], {
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  const built = join(copy, 'packages/web/dist')
  expect(await filesIn(built)).toEqual(await filesIn(appFolder))
})

test('what a server serves otherwise is named', async () => {
  const served = join(folder, 'served')
  await cp(appFolder, served, { recursive: true })
  using server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url)
      const file = Bun.file(join(served, pathname === '/' ? 'index.html' : pathname))
      return (await file.exists()) ? new Response(file) : new Response('', { status: 404 })
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  expect(await differencesAt(url, appFolder)).toEqual([])

  const script = (await readdir(join(served, 'assets'))).find((name) => /^index-.*\.js$/.test(name)) ?? ''
  const text = await readFile(join(served, 'assets', script), 'utf8')
  await writeFile(join(served, 'assets', script), `${text.slice(0, 7)}!${text.slice(8)}`)
  await rm(join(served, 'icons/sotto.svg'))
  const differences = await differencesAt(url, appFolder)
  expect(differences).toEqual([
    {
      path: `assets/${script}`,
      what: expect.stringMatching(/^differs: (\d+) bytes instead of \1, .* at byte 7$/),
    },
    { path: 'icons/sotto.svg', what: 'is not there: the server answers 404' },
  ])
})
