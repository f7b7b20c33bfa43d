// sotto doctor on the command line: one line for each thing, and the exit code.
import { expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'

async function doctor(settings: Record<string, string>, ...args: string[]) {
  const folder = await mkdtemp('/var/tmp/sotto-doctor-') // /tmp may be in memory.
  try {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, '../src/main.ts'), 'doctor', ...args], {
      env: { PATH: process.env.PATH ?? '', DATA_DIR: folder, DISK_RESERVE_BYTES: '0', ...settings },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [output, errors] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    return { code: await child.exited, output, errors }
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('what fails is told with what to do, and the exit code says that something failed', async () => {
  const healthy = await doctor({})
  expect([healthy.code, healthy.errors]).toEqual([0, ''])
  expect(healthy.output).toStartWith('ok       configuration  the settings can be used\n')
  expect(healthy.output).toMatch(/^- {8}turn {11}there are no servers for calls/m)
  const wrong = await doctor({ PORT: 'many' })
  expect(wrong.code).toBe(1)
  expect(wrong.output).toMatch(
    /^FAILED {3}configuration {2}PORT is "many", but must be .*\. To do: correct it.*\n$/,
  )
  const json = await doctor({ PORT: 'many' }, '--json')
  expect([json.code, JSON.parse(json.output)]).toMatchObject([
    1,
    [{ check: 'configuration', state: 'failed' }],
  ])
}, 240_000)
