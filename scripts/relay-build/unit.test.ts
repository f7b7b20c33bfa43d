// The unit of systemd: what it allows, judged by systemd itself.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../client-package/entries.ts'
import { run } from './targets.ts'

const unit = join(ROOT, 'deploy/systemd/sotto.service')
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-unit-'))
})
afterAll(() => rm(folder, { recursive: true }))

test('systemd rates what a relay that was taken over could do below 2 of 10', async () => {
  const report = await run(['systemd-analyze', '--no-pager', 'security', '--offline=true', unit], folder)
  const exposure = /Overall exposure level for sotto\.service: ([\d.]+)/.exec(report)?.[1]
  expect(Number(exposure)).toBeLessThan(2)
})

test('systemd knows each line', async () => {
  const copy = join(folder, 'sotto.service')
  const text = await Bun.file(unit).text()
  // systemd also looks for the program, which need not be installed here.
  await Bun.write(copy, text.replace('/usr/bin/sotto serve', '/bin/sh'))
  const words = ['verify', '--man=no', '--recursive-errors=no', copy]
  const child = Bun.spawn(['systemd-analyze', ...words], { stdout: 'pipe', stderr: 'pipe' })
  expect(await new Response(child.stderr).text()).not.toContain(copy)
  expect(await child.exited).toBe(0)
  // Bun compiles code while it runs.
  expect(text).not.toContain('MemoryDenyWriteExecute=yes')
})
