// The units of systemd: what they allow, judged by systemd itself.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../client-package/entries.ts'
import { run } from './targets.ts'

const units = join(ROOT, 'deploy/systemd')
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-unit-'))
})
afterAll(() => rm(folder, { recursive: true }))

test.each(['sotto.service', 'sotto-backup.service'])(
  'systemd rates what %s could do if it was taken over below 2 of 10',
  async (name) => {
    const words = ['--no-pager', 'security', '--offline=true', join(units, name)]
    const report = await run(['systemd-analyze', ...words], folder)
    const exposure = /Overall exposure level for \S+: ([\d.]+)/.exec(report)?.[1]
    expect(Number(exposure)).toBeLessThan(2)
  },
)

test.each(['sotto.service', 'sotto-backup.service', 'sotto-backup.timer'])(
  'systemd knows each line of %s',
  async (name) => {
    const copy = join(folder, name)
    const text = await Bun.file(join(units, name)).text()
    // systemd also looks for the program, which need not be installed here.
    await Bun.write(copy, text.replaceAll(/\/usr\/bin\/sotto \w+/g, '/bin/sh'))
    const words = ['verify', '--man=no', '--recursive-errors=no', copy]
    const child = Bun.spawn(['systemd-analyze', ...words], { stdout: 'pipe', stderr: 'pipe' })
    expect(await new Response(child.stderr).text()).not.toContain(copy)
    expect(await child.exited).toBe(0)
    // Bun compiles code while it runs.
    expect(text).not.toContain('MemoryDenyWriteExecute=yes')
  },
)
