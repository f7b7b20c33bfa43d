// The settings of the NATS servers that nodes notify each other through. config.ts, the only reader of the
// environment, reads them.
import { SettingError } from '../operations/setting-error.ts'

/** Settings of the bus. */
export const natsSettings = {
  NATS_URL: {
    default: '',
    means:
      'nats://… or tls://… with which nodes of one PostgreSQL notify each other, instead of with PostgreSQL itself; several servers of one NATS cluster are comma-separated. The user and password are those of the first URL that has them. Needs DATABASE_URL',
  },
} as const

/** The servers of one NATS cluster. */
export interface NatsServers {
  /** Host and port of each. */
  readonly servers: readonly string[]
  /** Whether a server must speak TLS. */
  readonly isTls: boolean
  readonly user: string | undefined
  readonly password: string | undefined
}

/** @throws SettingError without the value, because it may have a password in any part of it */
export function natsServersOf(text: (name: 'NATS_URL' | 'DATABASE_URL') => string): NatsServers | undefined {
  if (text('NATS_URL') === '') return undefined
  if (text('DATABASE_URL') === '')
    throw new SettingError('NATS_URL', 'empty unless DATABASE_URL is set, because nodes share a PostgreSQL')
  const urls = text('NATS_URL').split(',').map(natsUrl)
  const named = urls.find(({ username }) => username !== '')
  return {
    servers: urls.map(({ host }) => host),
    isTls: urls.some(({ protocol }) => protocol === 'tls:'),
    user: named && decodeURIComponent(named.username),
    password: named && decodeURIComponent(named.password),
  }
}

function natsUrl(text: string): URL {
  const url = URL.parse(text.trim())
  const isNats =
    (url?.protocol === 'nats:' || url?.protocol === 'tls:') &&
    url.hostname !== '' &&
    url.pathname.length <= 1 &&
    url.search + url.hash === '' &&
    isDecodable(url.username + url.password)
  if (!isNats)
    throw new SettingError('NATS_URL', 'URLs such as nats://user:password@nats.example:4222 or tls://…')
  return url
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
