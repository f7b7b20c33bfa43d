// sotto keys and sotto accounts at a running relay and at the store of a stopped one.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'

let relay: RelayProcess
beforeAll(async () => {
  relay = await startRelay()
}, 60_000)
afterAll(() => relay.stop())

async function sotto(...args: string[]): Promise<{ code: number; output: string; errors: string }> {
  const main = join(import.meta.dir, '../src/main.ts')
  const child = Bun.spawn([process.execPath, main, ...args, '--data-dir', relay.dataDir], {
    env: { PATH: process.env.PATH ?? '' },
    stdout: 'pipe',
    stderr: 'pipe',
    stdin: 'ignore',
  })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, output, errors }
}

test('keys are listed and rotated, at a relay that runs and in the store of one that does not', async () => {
  const { code, output } = await sotto('keys', 'list')
  expect([code, output.split('\n').length]).toEqual([0, 5])
  expect(output).toMatch(/^token {6}\S+ {2}2\S+Z {2}signs\n/)
  expect(output).toContain('signs     0 subscriptions')
  expect((await sotto('keys', 'rotate', 'media')).output).toMatch(/^media.+ signs\nmedia.+ verifies\n$/)
  await relay.kill('SIGTERM')
  const dropped = await sotto('keys', 'rotate', 'all', '--drop-old', '--json')
  const keys: { purpose: string; state: string }[] = JSON.parse(dropped.output)
  expect(keys.map(({ purpose, state }) => `${purpose} ${state}`)).toEqual(
    ['token', 'challenge', 'media', 'vapid'].map((purpose) => `${purpose} signs`),
  )
  await relay.start()
}, 60_000)

test('wrong words are refused with what would be right', async () => {
  const purpose = await sotto('keys', 'rotate', 'everything')
  expect([purpose.code, purpose.errors]).toEqual([
    2,
    'sotto: PURPOSE is one of token, challenge, media, vapid or all, not "everything"\n',
  ])
  const nobody = await sotto('accounts', 'log-out', 'nobody_here')
  expect([nobody.code, nobody.errors]).toEqual([1, 'sotto: no account has the alias nobody_here\n'])
}, 60_000)
