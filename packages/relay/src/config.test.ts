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
  for (const path of ['/a/b', '/a/b/'])
    expect(readConfig({ PUBLIC_URL: `https://x.example${path}` }).publicUrl?.href).toBe(
      'https://x.example/a/b/',
    )
  expect(config.rates?.pow).toEqual({ burst: 5, perSeconds: 10 })
  expect(config.limits.powDifficulty).toBe(5)
  expect(readConfig({ RATE_LIMITS: 'off', RATE_POW: 'ignored' }).rates).toBeUndefined()
})

test('who may register is one of three words', () => {
  expect(readConfig({}).admission.registration).toBe('open')
  expect(readConfig({ REGISTRATION: ' invite ' }).admission.registration).toBe('invite')
  expect(readConfig({}).admission.invitesByMembers).toBe(0)
  expect(readConfig({ INVITES_BY_MEMBERS: '5' }).admission.invitesByMembers).toBe(5)
  expect(messageOf({ INVITES_BY_MEMBERS: 'all' })).toBe(
    'INVITES_BY_MEMBERS must be a whole number from 0 to 10000',
  )
  expect(messageOf({ REGISTRATION: 'friends' })).toBe('REGISTRATION must be one of open, invite, closed')
})

test('the work of a registration rises at a number, or not at all, up to five zeros', () => {
  expect(readConfig({}).admission).toMatchObject({ powRisesAt: 300, powMost: 5 })
  expect(readConfig({ POW_RISES_AT: 'off' }).admission.powRisesAt).toBeUndefined()
  expect(messageOf({ POW_RISES_AT: '0' })).toBe(
    'POW_RISES_AT must be a whole number from 1 to 1000000, or off',
  )
  expect(messageOf({ POW_DIFFICULTY_MOST: '6' })).toBe(
    'POW_DIFFICULTY_MOST must be a whole number from 1 to 5',
  )
})

test('TLS needs both files, and an address for clients that begins with https', () => {
  const files = { TLS_CERT: 'cert.pem', TLS_KEY: 'key.pem' }
  expect(readConfig(files).certificates).toMatchObject({
    files: { cert: 'cert.pem', key: 'key.pem' },
    acme: undefined,
  })
  expect(messageOf({ TLS_CERT: 'cert.pem' })).toBe('TLS_KEY must be set too, because the other one is')
  expect(messageOf({ TLS_KEY: 'key.pem' })).toBe('TLS_CERT must be set too, because the other one is')
  expect(messageOf({ ...files, PUBLIC_URL: 'http://relay.example' })).toBe(
    'PUBLIC_URL must be an address that begins with https://, because TLS_CERT is set',
  )
})

describe('settings of TLS and ACME that are refused', () => {
  const DOMAIN = 'relay.example'
  test.each([
    [{ DOMAIN: 'https://relay.example' }, 'DOMAIN must be a name such as relay.example, or an IP address'],
    [{ DOMAIN: 'fe80::1%eth0', PUBLIC_URL: 'https://relay.example' }, 'DOMAIN must be a name such as'],
    [{ DOMAIN: 'relay' }, 'DOMAIN must be a name such as relay.example, or an IP address'],
    [{ DOMAIN, PUBLIC_URL: 'http://relay.example' }, 'PUBLIC_URL must be an address that begins with https'],
    [{ DOMAIN, PUBLIC_URL: 'https://other.example' }, 'PUBLIC_URL must be an address at the host of DOMAIN'],
    [{ DOMAIN, PUBLIC_URL: 'https://relay.example/a' }, 'PUBLIC_URL must be an address without a path'],
    [{ DOMAIN, HTTP_PORT: 'off' }, 'HTTP_PORT must be a port, because the ACME server of DOMAIN asks there'],
    [{ DOMAIN, HTTP_PORT: '0' }, 'HTTP_PORT must be a port from 1 to 65535, or off'],
    [{ DOMAIN, HTTP_PORT: '65536' }, 'HTTP_PORT must be a port from 1 to 65535, or off'],
    [{ HTTP_PORT: '80' }, 'PUBLIC_URL must be the address to which HTTP_PORT sends browsers'],
    [{ DOMAIN, ACME_DIRECTORY: 'http://acme.example' }, 'ACME_DIRECTORY must be an address that begins with'],
    [{ DOMAIN, ACME_EMAIL: 'you' }, 'ACME_EMAIL must be one address, such as you@relay.example'],
    [{ DOMAIN, ACME_EMAIL: 'a@b.example,c@d.example' }, 'ACME_EMAIL must be one address'],
  ])('%j', (environment, reason) => {
    expect(messageOf(environment)).toStartWith(reason)
  })

  test('but a domain or an IP address alone is enough, and files of one’s own need no port 80', () => {
    expect(readConfig({ DOMAIN: 'Relay.Example' })).toMatchObject({
      ...{ port: 443, host: '::', certificates: { httpPort: 80, acme: { host: 'relay.example' } } },
    })
    expect(readConfig({ DOMAIN: '2001:db8::1' }).publicUrl?.href).toBe('https://[2001:db8::1]/')
    const long = readConfig({ DOMAIN: '2001:DB8:0:0::1' })
    expect(long.publicUrl?.href).toBe('https://[2001:db8::1]/')
    expect(long.certificates.acme?.host).toBe('2001:db8::1')
    const files = { TLS_CERT: 'cert.pem', TLS_KEY: 'key.pem' }
    expect(messageOf({ DOMAIN, ...files, HTTP_PORT: 'off' })).toBe('it was accepted')
  })
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
    const patterns = ['*.md', 'docs/*.md', 'docs/operations/*.md', 'packages/cli/src/*.ts']
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
    ...[
      ...['relay.example', 'ftp://relay.example', 'https://relay.example?', 'https://relay.example/a?b=c'],
      ...['https://relay.example/#a', 'https://you@relay.example', 'https://relay.example//'],
      ...['https://relay.example/a//b', 'https://relay.example/a b', 'https://relay.example/%2e%2f'],
    ].map(
      (url) =>
        ['PUBLIC_URL', url, 'a URL such as https://relay.example or https://example.org/sotto'] as const,
    ),
    ['DATABASE_CONNECTIONS', '1', 'a whole number from 2 to 200'],
    ['CORS_ORIGINS', 'https://a.example/', '* or origins such as https://app.example'],
    ['CORS_ORIGINS', '*,https://a.example', '* or origins such as https://app.example'],
    ['TRUST_PROXY', 'true', 'a whole number from 0 to 10'],
    ['LOG_LEVEL', 'INFO', 'one of silent, error, warn, info, debug'],
    ['DRAIN_SECONDS', '0', 'a whole number from 1 to 300'],
    ['UPGRADE_SECONDS', '1', 'a whole number from 2 to 3600'],
    ['RATE_LIMITS', 'no', 'one of on, off'],
    ['UNBOUND_LOGIN', 'yes', 'one of refuse, allow'],
    ['METRICS_PORT', '0', 'a whole number from 1 to 65535'],
    ['METRICS_PORT', 'on', 'a whole number from 1 to 65535'],
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

test('NATS_URL needs DATABASE_URL, and an invalid one is never shown', () => {
  const database = { DATABASE_URL: 'postgres://db/sotto' }
  expect(messageOf({ NATS_URL: 'nats://nats' })).toBe(
    'NATS_URL must be empty unless DATABASE_URL is set, because nodes share a PostgreSQL',
  )
  for (const url of [
    'http://user:secret@nats',
    'nats://user:secret@nats/path',
    'nats://user:secret@',
    'nats://user:%secret@nats',
    'nats://nats?password=secret',
    'nats://nats,user:secret@nats',
    'secret',
    'nats://nats,',
  ])
    expect(messageOf({ ...database, NATS_URL: url })).toBe(
      'NATS_URL must be URLs such as nats://user:password@nats.example:4222 or tls://…',
    )
  const config = readConfig({ ...database, NATS_URL: 'nats://a:4222, tls://us%40er:p%20w@[::1]:4223' })
  expect(config.nats).toEqual({
    servers: ['a:4222', '[::1]:4223'],
    isTls: true,
    user: 'us@er',
    password: 'p w',
  })
  const shown = config.inForce.find(({ name }) => name === 'NATS_URL')
  expect(shown?.value).toBe('nats://a:4222, tls://[::1]:4223')
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

test('several workers need PostgreSQL', () => {
  const database = { DATABASE_URL: 'postgres://localhost/sotto' }
  expect(readConfig({ WORKERS: '3', ...database }).workers).toBe(3)
  expect(readConfig({ WORKERS: 'auto', ...database }).workers).toBeGreaterThan(0)
  expect(readConfig({ WORKERS: '1' }).workers).toBe(1)
  for (const count of ['auto', '2'])
    expect(messageOf({ WORKERS: count })).toBe(
      `WORKERS must be 1, because only PostgreSQL (DATABASE_URL) is shared by several processes`,
    )
  expect(readConfig({ WORKERS: '2', DOMAIN: 'relay.example', ...database }).workers).toBe(2)
  for (const wrong of ['0', '65', 'many', '-1', '1.5'])
    expect(messageOf({ WORKERS: wrong, ...database })).toBe(
      `WORKERS must be auto or a whole number from 1 to 64`,
    )
})
