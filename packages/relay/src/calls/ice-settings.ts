// The settings of the STUN and TURN servers for calls. config.ts, the only reader of the environment, reads
// them.
import { SettingError } from '../operations/setting-error.ts'

/** Settings of STUN and TURN. */
export const iceSettings = {
  TURN_URLS: {
    default: '',
    means:
      'TURN servers for calls, comma-separated, such as turn:turn.example:3478,turns:turn.example:5349?transport=tcp',
  },
  TURN_SECRET: {
    default: '',
    means: 'secret shared with the TURN servers (coturn: static-auth-secret), at least 16 characters',
  },
  TURN_TTL_SECONDS: { default: '43200', means: 'life of TURN credentials, 60 to 604800' },
  STUN_URLS: {
    default: '',
    means: 'STUN servers for calls, comma-separated, such as stun:turn.example:3478',
  },
} as const

/** The servers, and the secret that the relay shares with the TURN servers. */
export interface IceServers {
  readonly stunUrls: readonly string[]
  readonly turnUrls: readonly string[]
  /** Empty if there is no TURN server. */
  readonly turnSecret: string
  readonly ttlSeconds: number
}

// By RFC 7064 and RFC 7065 these URLs have no user and no path. WebRTC supports only the transports udp and
// tcp.
const HOST_AND_PORT = String.raw`(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[1-9][0-9]{0,4})?`
const STUN_URL = new RegExp(`^stuns?:${HOST_AND_PORT}$`)
const TURN_URL = new RegExp(String.raw`^turns?:${HOST_AND_PORT}(?:\?transport=(?:udp|tcp))?$`)

// Anyone who has one credential can try secrets as fast as HMAC-SHA1 can be computed, so short secrets are
// refused.
const LEAST_SECRET_CHARACTERS = 16

/** Whether the port, if any, is valid. Browsers make no call if any URL in the list has an invalid port. */
function hasPort(url: string): boolean {
  const port = /:(?<port>\d+)(?:\?|$)/.exec(url)?.groups?.port
  return port === undefined || Number(port) <= 65_535
}

/** @throws SettingError at the first setting that cannot be used */
export function iceServersOf(text: (name: keyof typeof iceSettings) => string): IceServers {
  const list = (name: 'TURN_URLS' | 'STUN_URLS', form: RegExp, right: string): string[] => {
    const urls = text(name)
      .split(',')
      .map((url) => url.trim())
      .filter((url) => url !== '')
    if (urls.every((url) => form.test(url) && hasPort(url))) return urls
    throw new SettingError(name, right)
  }
  const turnUrls = list(
    'TURN_URLS',
    TURN_URL,
    'URLs such as turn:turn.example:3478 or turns:turn.example:5349?transport=tcp',
  )
  const stunUrls = list('STUN_URLS', STUN_URL, 'URLs such as stun:turn.example:3478')
  const turnSecret = text('TURN_SECRET')
  if (turnUrls.length > 0 && turnSecret.length < LEAST_SECRET_CHARACTERS) {
    throw new SettingError(
      'TURN_SECRET',
      `at least ${LEAST_SECRET_CHARACTERS} characters if TURN_URLS is set, and the same as on the TURN servers`,
    )
  }
  const ttl = text('TURN_TTL_SECONDS')
  const ttlSeconds = /^[0-9]{1,6}$/.test(ttl) ? Number(ttl) : 0
  if (ttlSeconds < 60 || ttlSeconds > 604_800) {
    throw new SettingError('TURN_TTL_SECONDS', 'a whole number from 60 to 604800')
  }
  return { stunUrls, turnUrls, turnSecret, ttlSeconds }
}
