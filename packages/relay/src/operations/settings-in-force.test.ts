// What is shown of settings: never a secret, nor what may contain one.
import { expect, test } from 'bun:test'
import { settingsInForce, sharedHashes } from './settings-in-force.ts'

function shown(name: string, value: string): string | null | undefined {
  return settingsInForce({ [name]: value }, { [name]: 'usual' })[0]?.value
}

test('a default is shown whole, and what was set counts before it', () => {
  const defaults = { ONE: 'https://relay.example/path', TWO: '', THREE: '3' }
  expect(settingsInForce({ THREE: ' 4 ', TWO: ' ' }, defaults)).toMatchObject([
    { name: 'ONE', value: 'https://relay.example/path', is_set: false },
    { name: 'TWO', value: '', is_set: false },
    { name: 'THREE', value: '4', is_set: true },
  ])
})

test('secrets are hidden by their names', () => {
  for (const name of [
    'TURN_SECRET',
    'MEDIA_S3_SECRET_KEY',
    'TRON_API_KEY',
    'WEBHOOK_API_KEY',
    'DATABASE_URL',
    'EVM_XPUB',
  ])
    expect([name, shown(name, 'hidden')]).toEqual([name, null])
})

test('of an address, the host is shown alone', () => {
  for (const [value, expected] of [
    ['https://rpc.example', 'https://rpc.example'],
    ['https://rpc.example/', 'https://rpc.example'],
    ['https://rpc.example/v3/key', 'https://rpc.example/…'],
    ['https://user:pass@rpc.example/?key=1', 'https://rpc.example/…'],
    ['https://a.example/k1, wss://b.example:8546/#k2', 'https://a.example/…, wss://b.example:8546/…'],
    ['turn:turn.example:3478', 'turn:turn.example:3478'],
    ['https://user:p/ss@rpc.example', null],
    ['https://user:p,ss@rpc.example', null],
    ['https://', null],
    ['https://a.example,secret', null],
  ] as const)
    expect([value, shown('EVM_RPC_URLS', value)]).toEqual([value, expected])
})

test('nodes see by short hashes whether they share what they must, also secrets and defaults', () => {
  const defaults = { PUBLIC_URL: '', TURN_SECRET: '', RATE_LOGIN: '5/60', PORT: '8080', EVM_RPC_URLS: '' }
  const hashes = (environment: Record<string, string>) => sharedHashes(settingsInForce(environment, defaults))
  const own = { TURN_SECRET: 'one', RATE_LOGIN: '5/60', PORT: '80', EVM_RPC_URLS: 'https://a.example' }
  expect(hashes({ TURN_SECRET: ' one ', PORT: '90' })).toEqual(hashes(own))
  const other = hashes({ ...own, TURN_SECRET: 'two' })
  const differ = Object.keys(other).filter((name) => other[name] !== hashes(own)[name])
  expect([Object.keys(other), differ]).toEqual([['PUBLIC_URL', 'TURN_SECRET', 'RATE_LOGIN'], ['TURN_SECRET']])
  for (const hash of Object.values(other)) expect(hash).toMatch(/^[0-9a-f]{4}$/)
})
