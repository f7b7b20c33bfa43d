// `sotto serve` as people run it.
import { afterAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MAIN = join(import.meta.dir, '../src/main.ts')
const root = await mkdtemp(join(tmpdir(), 'sotto-serve-'))

afterAll(() => rm(root, { recursive: true }))

function serve(...args: string[]) {
  return Bun.spawn([process.execPath, MAIN, 'serve', ...args], {
    env: { PATH: process.env.PATH ?? '', PORT: '1', HOST: '127.0.0.1', LOG_LEVEL: 'warn' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

test('serve uses the port and folder of its flags and stops cleanly; a second relay on the port says why it cannot start, and so does one for others without PUBLIC_URL', async () => {
  const first = serve('--port', '0', '--data-dir', join(root, 'a'))
  const reader = first.stdout.getReader()
  let output = ''
  while (!/listens on \S+\n/.test(output)) output += new TextDecoder().decode((await reader.read()).value)
  while (!output.includes('Next:')) output += new TextDecoder().decode((await reader.read()).value)
  expect(output).toContain('Logins: only from this machine')
  const url = /listens on (\S+)/.exec(output)?.[1] ?? ''
  expect((await fetch(`${url}/health`)).status).toBe(200)

  const second = serve('--port', new URL(url).port, '--data-dir', join(root, 'b'))
  expect(await second.exited).toBe(1)
  const errors = await new Response(second.stderr).text()
  expect(errors).toMatch(/^sotto: .*something else listens there.*\n$/)

  // Not even tried on an open port: nothing binds its logins to an address.
  const open = serve('--port', '0', '--host', '0.0.0.0', '--data-dir', join(root, 'b'))
  expect(await open.exited).toBe(1)
  expect(await new Response(open.stderr).text()).toMatch(/^sotto: PUBLIC_URL is "", but must be .*\n$/)

  first.kill('SIGTERM')
  expect(await first.exited).toBe(0)
}, 120_000)

test('workers that cannot start say why once', async () => {
  const child = Bun.spawn([process.execPath, MAIN, 'serve', '--port', '0', '--data-dir', join(root, 'c')], {
    // Nothing listens on port 1.
    env: {
      PATH: process.env.PATH ?? '',
      WORKERS: '2',
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
      LOG_LEVEL: 'warn',
    },
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
  })
  const errors = await new Response(child.stderr).text()
  expect(errors).toMatch(/^sotto: DATABASE_URL names a PostgreSQL that cannot be used: .*\n$/)
  expect(await child.exited).toBe(1)
}, 120_000)
