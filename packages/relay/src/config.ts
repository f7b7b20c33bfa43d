// Defines every setting (name, default, meaning) and reads it. No other file reads the environment.

import {
  type LimitName,
  type Limits,
  limits,
  type RateInForce,
  type RateName,
  type Rates,
  rates,
} from '@sotto/protocol'
import { type AdmissionConfig, admissionConfigOf, admissionSettings } from './admission/admission.ts'
import { type IceServers, iceServersOf, iceSettings } from './calls/ice-settings.ts'
import {
  type CertificateConfig,
  certificateConfigOf,
  certificateSettings,
  defaultsOfDomain,
} from './certificates/certificates.ts'
import { type NatsServers, natsServersOf, natsSettings } from './cluster/nats-settings.ts'
import { isLoopback, type LoginHost } from './listener/login-host.ts'
import { type MediaConfig, mediaConfigOf, mediaSettings } from './media/media-settings.ts'
import { type BackupConfig, backupConfigOf, backupSettings } from './operations/backup-settings.ts'
import { type LogLevel, logLevels } from './operations/log.ts'
import { nearestName } from './operations/nearest-name.ts'
import { SettingError } from './operations/setting-error.ts'
import { type SettingInForce, settingsInForce } from './operations/settings-in-force.ts'
import { type SpaceConfig, spaceConfigOf, spaceSettings } from './operations/space-settings.ts'
import { stopSettings } from './operations/stop-settings.ts'
import { type PaymentConfig, paymentConfigOf } from './payments/payment-config.ts'
import { paymentSettings } from './payments/payment-settings.ts'
import { type PushConfig, pushConfigOf, pushSettings } from './push/push-config.ts'
import { workerSettings, workersOf } from './workers/workers.ts'

/** A setting is invalid. The message names it, its value and the valid values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** The settings, read and checked. */
export interface Config {
  readonly port: number
  readonly host: string
  /** Ends with a slash. It has a path only if a proxy in front of the relay removes it. */
  readonly publicUrl: URL | undefined
  readonly certificates: CertificateConfig
  readonly loginHost: LoginHost
  readonly admission: AdmissionConfig
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly databaseConnections: number
  /** The servers that nodes notify each other through; undefined if they use the database. */
  readonly nats: NatsServers | undefined
  /** How many processes serve the port. */
  readonly workers: number
  /** The folder of the web app; undefined if the relay serves none. */
  readonly appDir: string | undefined
  /** The folder of the admin page; undefined if the relay has none. */
  readonly adminDir: string | undefined
  readonly corsOrigins: readonly string[] | 'any'
  readonly trustedProxies: number
  readonly logLevel: LogLevel
  /** The file of the security log; undefined if there is none. */
  readonly securityLog: string | undefined
  /** Where metrics are read; undefined if they are not. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined
  readonly drainNoticeSeconds: number
  readonly drainSeconds: number
  readonly upgradeSeconds: number
  /** The file of the operator's price list. If undefined, the relay's own list is used. */
  readonly vanityRules: string | undefined
  readonly payments: PaymentConfig
  readonly iceServers: IceServers
  readonly push: PushConfig
  readonly media: MediaConfig
  readonly space: SpaceConfig
  readonly backup: BackupConfig
  readonly limits: Limits
  readonly rates: Rates
  /** Every setting as it is in force, for the operator's eyes. */
  readonly inForce: readonly SettingInForce[]
}

interface Setting {
  readonly default: string
  readonly means: string
}

/** The settings except limits and rates, which the protocol package defines. */
export const settings = {
  PORT: { default: '8080', means: 'TCP port to listen on; 0 chooses a free port' },
  HOST: {
    default: '127.0.0.1',
    means: 'address to listen on; 0.0.0.0 or :: for all. Beyond this machine, PUBLIC_URL must be set',
  },
  PUBLIC_URL: {
    default: '',
    means:
      'the relay’s address for clients, such as https://relay.example, or https://example.org/sotto behind a proxy that removes the path; login challenges are bound to its host. If empty, only localhost, 127.0.0.0/8 and ::1 are taken',
  },
  UNBOUND_LOGIN: {
    default: 'refuse',
    means:
      'allow, while PUBLIC_URL is empty, takes logins under any host name, so that a false relay can pass them on to this one',
  },
  ...certificateSettings,
  ...admissionSettings,
  DATA_DIR: { default: './data', means: 'folder of the embedded database' },
  DATABASE_URL: { default: '', means: 'postgres://… to use PostgreSQL instead of the embedded database' },
  DATABASE_CONNECTIONS: {
    default: '10',
    means: 'connections to PostgreSQL, 2 to 200; up to three more are for nodes and checks',
  },
  ...natsSettings,
  ...workerSettings,
  APP_DIR: {
    default: 'off',
    means:
      'folder of the built web app, which the relay serves at `/`; off serves none. `sotto serve` takes its own app if this is not set',
  },
  ADMIN_DIR: {
    default: 'off',
    means:
      'folder of the built admin page, which `sotto admin` opens; off for none. `sotto serve` takes its own if this is not set',
  },
  CORS_ORIGINS: { default: '*', means: 'web origins that may call the relay, comma-separated, or *' },
  TRUST_PROXY: {
    default: '0',
    means:
      'number of your reverse proxies in front of the relay, 0 to 10; the relay trusts their X-Forwarded-For',
  },
  SECURITY_LOG: {
    default: 'off',
    means: 'file for logins, failed logins, rates that were reached and commands of operators; off for none',
  },
  LOG_LEVEL: { default: 'info', means: 'silent, error, warn, info or debug' },
  METRICS_PORT: {
    default: 'off',
    means: 'TCP port, 1 to 65535, of the metrics for Prometheus (`GET /metrics`); off opens none',
  },
  METRICS_HOST: {
    default: '127.0.0.1',
    means: 'address of METRICS_PORT. Who reaches it reads all metrics, so keep it from the internet',
  },
  ...stopSettings,
  VANITY_RULES: {
    default: '',
    means: 'file with the prices of custom ids, read again when it changes; if empty, the relay’s own rules',
  },
  ...paymentSettings,
  ...iceSettings,
  ...pushSettings,
  ...mediaSettings,
  ...spaceSettings,
  ...backupSettings,
  RATE_LIMITS: {
    default: 'on',
    means: 'off lifts all rates, but no size limit; for benchmarks and closed networks',
  },
} as const satisfies Record<string, Setting>

/** The name of every setting: those above, and those of the limits and rates. */
export const settingNames: readonly string[] = [
  ...Object.keys(settings),
  ...Object.values(limits).map(({ setting }) => setting),
  ...Object.values(rates).map(({ setting }) => setting),
]

/** What names of settings begin with: `EVM_`, `LIMIT_` and others. */
const prefixes = new Set(settingNames.flatMap((name) => /^[A-Z0-9]+_/.exec(name) ?? []))
/**
 * The relay does not start with an unknown name that begins like this: the limit or rate that was meant would
 * silently keep its default.
 */
const STRICT_PREFIX = /^(?:LIMIT|RATE)_/

/** A name that is no setting, although it begins like one. */
export interface UnknownSetting {
  readonly name: string
  /** The setting that was probably meant. */
  readonly nearest: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** The names in the environment that are no settings, although they begin like one. */
export function unknownSettings(environment: Environment): UnknownSetting[] {
  const unknown: UnknownSetting[] = []
  for (const [name, value] of Object.entries(environment)) {
    const [prefix = ''] = /^[A-Z0-9]+_/.exec(name) ?? []
    if (value === undefined || !prefixes.has(prefix) || settingNames.includes(name)) continue
    unknown.push({ name, nearest: nearestName(name, settingNames) ?? '' })
  }
  return unknown
}

/** @throws ConfigError at the first invalid setting, and for an unknown limit or rate */
export function readConfig(environment: Environment): Config {
  const unknown = unknownSettings(environment).find(({ name }) => STRICT_PREFIX.test(name))
  if (unknown)
    throw new ConfigError(`${unknown.name} is not a setting; the nearest one is ${unknown.nearest}`)
  const given = (name: keyof typeof settings): string => environment[name]?.trim() ?? ''
  const usual = checked(() => defaultsOfDomain(given('DOMAIN'), given('PORT')))
  const text = (name: keyof typeof settings): string => given(name) || usual[name] || settings[name].default
  const whole = (name: keyof typeof settings, min: number, max: number): number =>
    wholeNumber(name, text(name), min, max)
  const url = publicUrl(text('PUBLIC_URL'))
  const isUnboundAllowed = oneOf('UNBOUND_LOGIN', text('UNBOUND_LOGIN'), ['refuse', 'allow']) === 'allow'
  const inForce = readLimits(environment)
  const certificates = checked(() => certificateConfigOf(text, url))
  const checkedRates = (): Record<RateName, RateInForce> => {
    const read = readRates(environment)
    checkPowRate(read.pow, inForce)
    return read
  }
  return {
    port: whole('PORT', 0, 65_535),
    host: text('HOST'),
    publicUrl: url,
    certificates,
    loginHost: loginHost(url, { host: text('HOST'), isUnboundAllowed }),
    admission: checked(() => admissionConfigOf(text)),
    dataDir: text('DATA_DIR'),
    databaseUrl: databaseUrl(text('DATABASE_URL')),
    databaseConnections: whole('DATABASE_CONNECTIONS', 2, 200),
    nats: checked(() => natsServersOf(text)),
    workers: checked(() => workersOf(text('WORKERS'), { hasDatabase: text('DATABASE_URL') !== '' })),
    appDir: text('APP_DIR') === 'off' ? undefined : text('APP_DIR'),
    adminDir: text('ADMIN_DIR') === 'off' ? undefined : text('ADMIN_DIR'),
    corsOrigins: corsOrigins(text('CORS_ORIGINS')),
    trustedProxies: whole('TRUST_PROXY', 0, 10),
    securityLog: text('SECURITY_LOG') === 'off' ? undefined : text('SECURITY_LOG'),
    logLevel: oneOf('LOG_LEVEL', text('LOG_LEVEL'), logLevels),
    metrics:
      text('METRICS_PORT') === 'off'
        ? undefined
        : { host: text('METRICS_HOST'), port: whole('METRICS_PORT', 1, 65_535) },
    drainNoticeSeconds: whole('DRAIN_NOTICE_SECONDS', 0, 300),
    drainSeconds: whole('DRAIN_SECONDS', 1, 300),
    upgradeSeconds: whole('UPGRADE_SECONDS', 2, 3600),
    vanityRules: text('VANITY_RULES') || undefined,
    payments: checked(() => paymentConfigOf(text)),
    iceServers: checked(() => iceServersOf(text)),
    push: checked(() => pushConfigOf(text, url)),
    media: checked(() => mediaConfigOf(text)),
    space: checked(() => spaceConfigOf(text)),
    backup: checked(() => backupConfigOf(text)),
    limits: inForce,
    rates: oneOf('RATE_LIMITS', text('RATE_LIMITS'), ['on', 'off']) === 'on' ? checkedRates() : undefined,
    inForce: settingsInForce(environment, { ...defaults(), ...usual }),
  }
}

/** The default of each setting. */
function defaults(): Record<string, string> {
  return {
    ...Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, setting.default])),
    ...Object.fromEntries(Object.values(limits).map((limit) => [limit.setting, String(limit.default)])),
    ...Object.fromEntries(
      Object.values(rates).map(({ setting, burst, perSeconds }) => [setting, `${burst}/${perSeconds}`]),
    ),
  }
}

function checked<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof SettingError ? new ConfigError(error.message) : error
  }
}

function readLimits(environment: Environment): Limits {
  const read = (name: LimitName): number => {
    const { setting, default: usual, min, max } = limits[name]
    const given = environment[setting]?.trim()
    return given ? wholeNumber(setting, given, min, max) : usual
  }
  const inForce = mapKeys(limits, read)
  // With less, a client that reads its backlog slowly would be disconnected as one that does not read at all.
  const least = inForce.windowBytes + inForce.frameBytes
  if (inForce.outboundBytes < least) {
    const right = `at least ${least}, LIMIT_WINDOW_BYTES and LIMIT_FRAME_BYTES together`
    throw wrong(limits.outboundBytes.setting, String(inForce.outboundBytes), right)
  }
  return inForce
}

function readRates(environment: Environment): Record<RateName, RateInForce> {
  return mapKeys(rates, (name) => {
    const { setting, burst, perSeconds } = rates[name]
    const given = environment[setting]?.trim()
    return given ? rate(setting, given) : { burst, perSeconds }
  })
}

// If an address could open more challenges than a nonce is tried with, a stranger at that address could undo
// the work of a client that does not name its challenge.
function checkPowRate({ burst, perSeconds }: RateInForce, { powOpen, powSeconds }: Limits): void {
  const most = burst + Math.ceil((powSeconds * burst) / perSeconds)
  if (most <= powOpen) return
  const right = `so low that one address opens at most ${powOpen} challenges (LIMIT_POW_OPEN) in ${powSeconds} seconds (LIMIT_POW_SECONDS), not ${most}`
  throw wrong(rates.pow.setting, `${burst}/${perSeconds}`, right)
}

function rate(name: string, text: string): RateInForce {
  const match = /^(?<burst>[1-9][0-9]{0,14})\/(?<perSeconds>[1-9][0-9]{0,6})$/.exec(text)
  if (!match?.groups) throw wrong(name, text, 'a count and seconds such as 60/60')
  return { burst: Number(match.groups.burst), perSeconds: Number(match.groups.perSeconds) }
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max)) throw wrong(name, text, `a whole number from ${min} to ${max}`)
  return value
}

function oneOf<const T extends string>(name: string, text: string, values: readonly T[]): T {
  const value = values.find((candidate) => candidate === text)
  if (value === undefined) throw wrong(name, text, `one of ${values.join(', ')}`)
  return value
}

function publicUrl(text: string): URL | undefined {
  if (text === '') return undefined
  const url = parseUrl(text)
  const isPlain =
    url &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    /^\/(?:[\w.~-]+\/)*$/.test(`${url.pathname}/`.replace(/\/\/$/, '/')) &&
    url.href === url.origin + url.pathname
  if (!isPlain)
    throw wrong('PUBLIC_URL', text, 'a URL such as https://relay.example or https://example.org/sotto')
  if (!url.pathname.endsWith('/')) url.pathname += '/'
  return url
}

function loginHost(
  url: URL | undefined,
  { host, isUnboundAllowed }: { host: string; isUnboundAllowed: boolean },
): LoginHost {
  if (url) return { always: url.host }
  if (isUnboundAllowed) return 'any'
  if (isLoopback(host)) return 'loopback'
  const right = `the address that clients use, such as https://relay.example, because HOST is "${host}"`
  const why = 'Without it, a false relay could pass logins on to this one; UNBOUND_LOGIN=allow accepts that'
  throw wrong('PUBLIC_URL', '', `${right}. ${why}`)
}

function databaseUrl(text: string): string | undefined {
  if (text === '') return undefined
  const url = parseUrl(text)
  const isPostgres = url?.protocol === 'postgres:' || url?.protocol === 'postgresql:'
  // A connection URL may contain a password, in any part of it. The password must not reach a terminal or a
  // log.
  if (!isPostgres)
    throw wrong('DATABASE_URL', `${/^\w*:/.exec(text)?.[0] ?? ''}…`, 'a URL that begins with postgres://')
  return text
}

function corsOrigins(text: string): readonly string[] | 'any' {
  if (text === '*') return 'any'
  const origins = text.split(',').map((origin) => origin.trim())
  for (const origin of origins) {
    if (parseUrl(origin)?.origin !== origin)
      throw wrong('CORS_ORIGINS', text, '* or origins such as https://app.example')
  }
  return origins
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}

function wrong(name: string, value: string, right: string): ConfigError {
  return new ConfigError(`${name} is "${value}", but must be ${right}`)
}

function mapKeys<K extends string, V>(
  table: Readonly<Record<K, unknown>>,
  read: (key: K) => V,
): Record<K, V> {
  const result: Partial<Record<K, V>> = {}
  for (const key in table) result[key] = read(key)
  return complete(table, result)
}

function complete<K extends string, V>(
  keys: Readonly<Record<K, unknown>>,
  partial: Partial<Record<K, V>>,
): Record<K, V> {
  const isComplete = (record: Partial<Record<K, V>>): record is Record<K, V> =>
    Object.keys(keys).every((key) => key in record)
  if (!isComplete(partial)) throw new Error('a key is missing')
  return partial
}
