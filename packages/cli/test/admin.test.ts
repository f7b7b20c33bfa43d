// sotto admin prints a link to the page of a running relay, and closes it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { expectRefused, sotto } from './run-sotto.ts'

let relay: RelayProcess
let page = ''
beforeAll(async () => {
  page = await mkdtemp(join(tmpdir(), 'sotto-admin-'))
  await writeFile(join(page, 'index.html'), '<!doctype html><title>Admin</title>')
  relay = await startRelay({ env: { ADMIN_DIR: page } })
}, 120_000)
afterAll(async () => {
  await relay.stop()
  await rm(page, { recursive: true })
})

const admin = (...args: string[]) => sotto('admin', ...args, '--data-dir', relay.dataDir)

test('the link leads to the page, until it is closed', async () => {
  const { code, output, errors } = await admin()
  expect([code, errors]).toEqual([0, ''])
  expect(output).toStartWith('Open this in a browser on this machine within 5 minutes. It works once.\n')
  const [, link = ''] = /^ {2}(http:\/\/127\.0\.0\.1:\d+\/#\/open\/[\w-]{43})$/m.exec(output) ?? []
  expect(await (await fetch(link)).text()).toContain('<title>Admin</title>')
  const { port, url } = JSON.parse((await admin('--json')).output)
  expect(url).toStartWith(`http://127.0.0.1:${port}/#/open/`)
  expect(new URL(url).port).toBe(new URL(link).port)
  expect((await admin('--close')).output).toBe('The admin page is closed.\n')
  expect((await admin('--close')).output).toBe('It was not open.\n')
  expect(await fetch(link).catch(() => 'closed')).toBe('closed')
}, 240_000)

test('wrong calls end in one sentence', async () => {
  for (const port of ['0', '65536', 'x', '-1', ''])
    expect(await admin(`--port=${port}`)).toMatchObject({
      code: 2,
      errors: expect.stringContaining(`--port takes a number from 1 to 65535, not "${port}"`),
    })
  const empty = await mkdtemp(join(tmpdir(), 'sotto-empty-'))
  expect(await sotto('admin', '--data-dir', empty)).toMatchObject({ code: 1, output: '' })
  await rm(empty, { recursive: true })
  await relay.kill('SIGTERM')
  expectRefused(await admin(), 'no relay runs on this data folder; start it with sotto serve')
  await relay.start()
}, 240_000)
