// The settings: what each accepts, and that the error for an invalid one names it, its value and the valid
// values.
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { isErrorCode, limits, rates } from '@sotto/protocol'
import { ConfigError, readConfig, settingNames, settings, unknownSettings } from './config.ts'

function messageOf(environment: Record<string, string | undefined>): string {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'it was accepted'
}

test('settings that are missing or empty have their defaults', () => {
  const config = readConfig({})
  expect(config).toMatchObject({
    port: 8080,
    host: '127.0.0.1',
    corsOrigins: 'any',
    trustedProxies: 0,
    logLevel: 'info',
  })
  expect([config.publicUrl, config.databaseUrl, config.appDir]).toEqual([undefined, undefined, undefined])
  const blank = Object.fromEntries(Object.keys(settings).map((name) => [name, '  ']))
  expect(readConfig(blank)).toEqual(config)
})

test('every setting is read', () => {
  const config = readConfig({
    PORT: ' 0 ',
    PUBLIC_URL: 'https://relay.example:8443',
    APP_DIR: '/srv/app',
    CORS_ORIGINS: 'https://a.example, https://b.example',
    TRUST_PROXY: '2',
    RATE_POW: '5/10',
    LIMIT_POW_DIFFICULTY: '5',
    DATABASE_URL: 'postgresql://user:pass@db/sotto',
  })
  expect(config).toMatchObject({
    port: 0,
    trustedProxies: 2,
    appDir: '/srv/app',
    corsOrigins: ['https://a.example', 'https://b.example'],
  })
  expect(config.publicUrl?.host).toBe('relay.example:8443')
  expect(config.rates?.pow).toEqual({ burst: 5, perSeconds: 10 })
  expect(config.limits.powDifficulty).toBe(5)
  expect(readConfig({ RATE_LIMITS: 'off', RATE_POW: 'ignored' }).rates).toBeUndefined()
})

describe('a name that is no setting', () => {
  test.each([
    ['LIMIT_MEDIA_BYTE', '5', 'LIMIT_MEDIA_BYTES'],
    ['LIMIT_FRAMES_BYTES', '', 'LIMIT_FRAME_BYTES'],
    ['RATE_LIMIT', 'off', 'RATE_LIMITS'],
    ['RATE_MESSAGES', '1/1', 'RATE_MESSAGE'],
    ['LIMIT_MESSAGE_LIFE_DAY', '7', 'LIMIT_MESSAGE_LIFE_DAYS'],
  ])('stops the start and names the nearest setting: %s', (name, value, nearest) => {
    expect(messageOf({ [name]: value })).toBe(`${name} is not a setting; the nearest one is ${nearest}`)
    expect(messageOf({ [name]: value, RATE_LIMITS: 'off' })).toBe(
      `${name} is not a setting; the nearest one is ${nearest}`,
    )
  })

  test('is warned of if it begins like a setting, with the nearest setting', () => {
    const environment = {
      ...{ EVM_RPC_URL: 'x', PUSH_ALLOWED: '', MEDIA_S3_ACCESSKEY: 'secret', DATABASE_URI: 'x' },
      ...{ PATH: '/bin', HOME: '/', SOTTO_HOME: '/', MY_EVM_RPC_URL: 'x', EVM: '1', evm_token: 'x' },
      PUSH_SUBJECTS: undefined,
    }
    expect(messageOf(environment)).toBe('it was accepted')
    expect(unknownSettings(environment)).toEqual([
      { name: 'EVM_RPC_URL', nearest: 'EVM_RPC_URLS' },
      { name: 'PUSH_ALLOWED', nearest: 'PUSH_ALLOW' },
      { name: 'MEDIA_S3_ACCESSKEY', nearest: 'MEDIA_S3_ACCESS_KEY' },
      { name: 'DATABASE_URI', nearest: 'DATABASE_URL' },
    ])
    expect(unknownSettings(Object.fromEntries(settingNames.map((name) => [name, ''])))).toEqual([])
  })

  test('is in no document and no help text for operators', async () => {
    const root = join(import.meta.dir, '../../..')
    const patterns = ['*.md', 'docs/*.md', 'packages/cli/src/*.ts']
    const documents = patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(root)])
    expect(documents.length).toBeGreaterThan(10)
    for (const document of documents) {
      const text = await Bun.file(join(root, document)).text()
      const named = text.match(/\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/g)?.filter((name) => !isErrorCode(name)) ?? []
      const unknown = unknownSettings(Object.fromEntries(named.map((name) => [name, ''])))
      expect({ document, unknown }).toEqual({ document, unknown: [] })
    }
  })
})

describe('a relay that listens beyond loopback', () => {
  test('does not start without PUBLIC_URL, because its logins would be bound to nothing', () => {
    for (const HOST of ['0.0.0.0', '::', '192.0.2.1', 'relay.example', '128.0.0.1', 'localhost.example']) {
      expect(messageOf({ HOST })).toBe(
        `PUBLIC_URL is "", but must be the address that clients use, such as https://relay.example, because HOST is "${HOST}". Without it, a false relay could pass logins on to this one; UNBOUND_LOGIN=allow accepts that`,
      )
      expect(messageOf({ HOST, UNBOUND_LOGIN: 'refuse' })).toContain('PUBLIC_URL is ""')
      expect(messageOf({ HOST, UNBOUND_LOGIN: 'allow' })).toBe('it was accepted')
      expect(messageOf({ HOST, PUBLIC_URL: 'https://relay.example' })).toBe('it was accepted')
    }
  })

  test('is one whose HOST is no loopback address', () => {
    for (const HOST of ['127.0.0.1', '127.9.8.7', '::1', 'localhost', 'LocalHost'])
      expect(messageOf({ HOST })).toBe('it was accepted')
  })
})

describe('the error for an invalid value names the setting, the value and the valid values', () => {
  test.each([
    ['PORT', '65536', 'a whole number from 0 to 65535'],
    ['PORT', '-1', 'a whole number from 0 to 65535'],
    ['PORT', '0x50', 'a whole number from 0 to 65535'],
    ['PORT', '8080.5', 'a whole number from 0 to 65535'],
    ['PUBLIC_URL', 'relay.example', 'a URL without a path, such as https://relay.example'],
    ['PUBLIC_URL', 'https://relay.example/path', 'a URL without a path, such as https://relay.example'],
    ['PUBLIC_URL', 'ftp://relay.example', 'a URL without a path, such as https://relay.example'],
    ['DATABASE_CONNECTIONS', '1', 'a whole number from 2 to 200'],
    ['CORS_ORIGINS', 'https://a.example/', '* or origins such as https://app.example'],
    ['CORS_ORIGINS', '*,https://a.example', '* or origins such as https://app.example'],
    ['TRUST_PROXY', 'true', 'a whole number from 0 to 10'],
    ['LOG_LEVEL', 'INFO', 'one of silent, error, warn, info, debug'],
    ['DRAIN_SECONDS', '0', 'a whole number from 1 to 300'],
    ['RATE_LIMITS', 'no', 'one of on, off'],
    ['UNBOUND_LOGIN', 'yes', 'one of refuse, allow'],
  ])('%s=%s', (name, value, right) => {
    expect(messageOf({ [name]: value })).toBe(`${name} is "${value}", but must be ${right}`)
  })

  test.each(Object.values(limits).map(({ setting, min, max }) => [setting, min, max] as const))(
    '%s',
    (setting, min, max) => {
      for (const value of [String(min - 1), String(max + 1), 'many', '1e3', '-5']) {
        expect(messageOf({ [setting]: value })).toBe(
          `${setting} is "${value}", but must be a whole number from ${min} to ${max}`,
        )
      }
    },
  )

  test.each(Object.values(rates).map(({ setting }) => setting))('%s', (setting) => {
    for (const value of ['60', '0/60', '60/0', '60/60/60', 'off', '60/ 60', '-1/60']) {
      expect(messageOf({ [setting]: value })).toBe(
        `${setting} is "${value}", but must be a count and seconds such as 60/60`,
      )
    }
  })

  test('LIMIT_OUTBOUND_BYTES smaller than the window and a frame together', () => {
    expect(messageOf({ LIMIT_OUTBOUND_BYTES: '300000' })).toContain(
      'LIMIT_OUTBOUND_BYTES is "300000", but must be at least 524288',
    )
    expect(messageOf({ LIMIT_OUTBOUND_BYTES: '524288' })).toBe('it was accepted')
  })

  test('a RATE_POW that lets a stranger at an address push out the challenge of another client', () => {
    expect(messageOf({ RATE_POW: '600/60' })).toBe(
      'RATE_POW is "600/60", but must be so low that one address opens at most 1024 challenges (LIMIT_POW_OPEN) in 300 seconds (LIMIT_POW_SECONDS), not 3600',
    )
    expect(messageOf({ RATE_POW: '600/60', LIMIT_POW_OPEN: '3599' })).toContain('RATE_POW is "600/60"')
    expect(messageOf({ RATE_POW: '600/60', LIMIT_POW_OPEN: '3600' })).toBe('it was accepted')
    expect(messageOf({ RATE_POW: '600/60', RATE_LIMITS: 'off' })).toBe('it was accepted')
  })
})

test('a password in an invalid DATABASE_URL is never shown', () => {
  for (const url of [
    'mysql://user:secret@db/sotto',
    'mysql://user:se/secret@db',
    'user:secret@db/sotto',
    'postgres//user:secret@db',
    'mysql://db/sotto?user=u&password=secret',
    'postgres://user:secret@:port:/x',
    'https://user:a@secret@db',
    'secret',
  ]) {
    const message = messageOf({ DATABASE_URL: url })
    expect(message).toStartWith('DATABASE_URL is "')
    expect(message).toEndWith('but must be a URL that begins with postgres://')
    expect(message).not.toContain('secret')
  }
})
