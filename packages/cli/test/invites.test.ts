// sotto invites at a running relay and at the store of a stopped one.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { expectRefused, sotto } from './run-sotto.ts'

let relay: RelayProcess
beforeAll(async () => {
  relay = await startRelay({ env: { REGISTRATION: 'invite', PUBLIC_URL: 'https://relay.example' } })
}, 240_000)
afterAll(() => relay.stop())

const invites = (...args: string[]) => sotto('invites', ...args, '--data-dir', relay.dataDir)

test('an invite is made with its link and QR code, listed, and revoked', async () => {
  expect((await invites('list')).output).toBe('No invites.\n')
  const { code, output } = await invites(
    'make',
    '--uses',
    '3',
    '--days',
    'never',
    '--note',
    'my\u001b family',
  )
  expect(code).toBe(0)
  expect(output).toMatch(/[▀▄█]{20}[\s\S]+\nhttps:\/\/relay\.example\/#\/invite\/[0-9a-f]{32}\n3 people may /)
  const id = /revoke ([0-9a-f]{10})\n$/.exec(output)?.[1] ?? ''
  const line = `${id}  open     0 of 3      does not end              my\ufffd family\n`
  expect((await invites('list')).output).toBe(line)
  expect((await invites('revoke', id)).output).toBe(`${id} lets nobody register.\n`)
  expect((await invites('list')).output).toBe(line.replace('open   ', 'revoked'))
  expectRefused(await invites('revoke', 'nothing'), 'there is no invite nothing')
}, 240_000)

test('invites are made in the store while no relay runs, and a number that is none is refused', async () => {
  await relay.kill('SIGTERM')
  const made = JSON.parse((await invites('make', '--json')).output)
  // PUBLIC_URL is a setting of the relay, which is not there.
  expect(made).toMatchObject({ link: null, code: expect.stringMatching(/^[0-9a-f]{32}$/) })
  expect((await invites('make')).output).toContain('people type the code when they register')
  // So is REGISTRATION, which is open at first.
  expect((await invites('make')).output).toContain('Nobody needs it while REGISTRATION is open')
  expect(JSON.parse((await invites('list', '--json')).output)).toHaveLength(4)
  for (const flag of ['--uses', '--days'])
    expect(await invites('make', flag, '0')).toEqual({
      ...{ code: 2, output: '' },
      errors: `sotto: ${flag} is a whole number, not "0"\n`,
    })
  expectRefused(await invites('make', '--days', '9999'), 'days: must be at most 3650')
  await relay.start()
}, 240_000)
