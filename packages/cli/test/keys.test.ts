// sotto keys and sotto accounts at a running relay and at the store of a stopped one.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { wireAccount } from '@sotto/relay/testing/wire'

let relay: RelayProcess
beforeAll(async () => {
  relay = await startRelay()
}, 120_000)
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
}, 120_000)

test('wrong words are refused with what would be right', async () => {
  const purpose = await sotto('keys', 'rotate', 'everything')
  expect([purpose.code, purpose.errors]).toEqual([
    2,
    'sotto: PURPOSE is one of token, challenge, media, vapid or all, not "everything"\n',
  ])
  const nobody = await sotto('accounts', 'log-out', 'nobody_here')
  expect([nobody.code, nobody.errors]).toEqual([1, 'sotto: no account has the alias nobody_here\n'])
}, 120_000)

test('accounts are found, suspended, lifted and deleted, at a relay that runs and in the store of one that does not', async () => {
  const account = await wireAccount(relay.url, 'Mallory')
  const { socket } = await account.online()
  expect((await sotto('accounts', 'find', 'mallo')).output).toMatch(
    new RegExp(`^${account.alias} +\\S+  Mallory\n$`),
  )
  const unexplained = await sotto('accounts', 'suspend', account.alias)
  expect([unexplained.code, unexplained.errors]).toEqual([
    2,
    'sotto: --reason is missing; it says why this is done\n',
  ])
  const reason = ['--reason', 'Spam', '--by', 'Alice']
  const suspended = await sotto('accounts', 'suspend', account.alias, ...reason, '--for', '7d')
  expect(suspended.output).toMatch(new RegExp(`^${account.alias} is suspended until 2\\S+Z\\.\n$`))
  expect(await socket.next('goaway')).toEqual({ type: 'goaway', reason: 'jwt_revoked' })
  expect((await sotto('accounts', 'find', '--suspended')).output).toContain('suspended: Spam')
  const shown: { friends: number; suspended: unknown } = JSON.parse(
    (await sotto('accounts', 'show', account.alias, '--json')).output,
  )
  expect(shown).toMatchObject({ alias_id: account.alias, friends: 0, suspended: { reason: 'Spam' } })
  expect((await sotto('accounts', 'show', account.alias)).output).toMatch(/^reason +Spam$/m)
  await relay.kill('SIGTERM')
  expect((await sotto('accounts', 'lift', account.alias, '--by', 'Bob')).output).toBe(
    `${account.alias} is not suspended any more.\n`,
  )
  expect((await sotto('accounts', 'delete', account.alias, ...reason)).output).toBe(
    `${account.alias} is deleted.\n`,
  )
  const deeds = (await sotto('deeds', '--of', account.alias)).output.trim().split('\n')
  expect(deeds.map((line) => line.split('  ').slice(1).join('  '))).toEqual([
    `Alice  accounts.delete  ${account.alias}  (Spam)`,
    `Bob  accounts.lift  ${account.alias}`,
    `Alice  accounts.suspend  ${account.alias}  (Spam)`,
  ])
  await relay.start()
  expect((await sotto('accounts', 'find', 'mallory')).output).toBe('There are no such accounts.\n')
}, 120_000)
