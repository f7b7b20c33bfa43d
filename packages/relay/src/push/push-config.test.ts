// The settings of push: the configuration made from them, and the error messages for wrong values.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRelay } from '../../test/relay-process.ts'
import { readConfig } from '../config.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-push-config-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the subject', () => {
  test.each([
    [{}, undefined],
    [{ PUBLIC_URL: 'http://localhost:8080' }, undefined],
    [{ PUBLIC_URL: 'https://relay.example' }, 'https://relay.example'],
    [{ PUBLIC_URL: 'https://relay.example', PUSH_SUBJECT: 'mailto:me@x.example' }, 'mailto:me@x.example'],
    [{ PUSH_SUBJECT: 'https://x.example/contact' }, 'https://x.example/contact'],
  ])('of %p is %p', (environment, subject) => expect(readConfig(environment).push.subject).toBe(subject))
})

test('by default no host is excepted and Firebase is not set up', () => {
  const { allowed, fcm } = readConfig({}).push
  expect(fcm).toBeUndefined()
  for (const host of ['localhost', '127.0.0.1', '10.0.0.1', '::1']) expect(allowed.hasHost(host)).toBe(false)
})

describe('the error names the setting and the valid values:', () => {
  test.each([
    ['PUSH_SUBJECT', 'me@x.example', 'an address such as mailto:'],
    ['PUSH_SUBJECT', 'http://x.example', 'an address such as mailto:'],
    ['PUSH_ALLOW', '10.0.0.0/33', '"10.0.0.0/33" is none'],
    ['PUSH_ALLOW', 'push.example, https://push.example', '"https://push.example" is none'],
    ['PUSH_ALLOW', '*', '"*" is none'],
  ])('%s=%s', (setting, value, right) => {
    expect(() => readConfig({ [setting]: value })).toThrow(`${setting} must be`)
    expect(() => readConfig({ [setting]: value })).toThrow(right)
  })

  test.each([
    'http://fcm.googleapis.com',
    'fcm.googleapis.com',
    'https://u:p@fcm.example',
    'https://fcm.example/?a',
  ])('FCM_API_URL=%s', (value) => {
    const environment = { FCM_SERVICE_ACCOUNT: '/x.json', FCM_API_URL: value }
    expect(() => readConfig(environment)).toThrow('FCM_API_URL must be a URL that begins with https://')
  })

  test('FCM_SERVICE_ACCOUNT, without any of the file’s content', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const wrongKey = privateKey.export({ type: 'pkcs8', format: 'pem' })
    const account = {
      project_id: 'p',
      client_email: 'e',
      token_uri: 'https://x.example',
      private_key: wrongKey,
    }
    const files = { 'no.json': undefined, 'text.json': 'secret', 'part.json': '{"private_key":"secret"}' }
    for (const [name, text] of Object.entries({ ...files, 'key.json': JSON.stringify(account) })) {
      const file = join(folder, name)
      if (text !== undefined) await writeFile(file, text)
      const failure = await startRelay({ env: { FCM_SERVICE_ACCOUNT: file } }).catch(String)
      expect(failure).toContain('FCM_SERVICE_ACCOUNT must be')
      expect(failure).not.toContain('secret')
      expect(failure).not.toContain('PRIVATE KEY')
    }
  }, 120_000)
})
