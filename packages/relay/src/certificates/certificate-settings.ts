// The settings of TLS. Only config.ts reads the environment and calls this.
import { isIP } from 'node:net'
import { bareHost } from '../operations/bare-host.ts'
import { SettingError } from '../operations/setting-error.ts'
import type { CertificateFiles } from './certificate-files.ts'

/** Settings of the relay's own TLS. */
export const certificateSettings = {
  DOMAIN: {
    default: '',
    means:
      'the relay’s name or public IP address on the internet, such as relay.example. If set, the relay gets a certificate for it by ACME and needs no proxy: PORT is 443, HOST is ::, HTTP_PORT is 80 and PUBLIC_URL is https:// with this name, unless they are set',
  },
  HTTP_PORT: {
    default: 'off',
    means:
      'TCP port without TLS, 1 to 65535, that sends browsers to https and answers the ACME server, so DOMAIN needs it; off opens none. 80 with DOMAIN',
  },
  ACME_DIRECTORY: {
    default: 'https://acme-v02.api.letsencrypt.org/directory',
    means:
      'DOMAIN: directory of the ACME server that signs the certificate. By using it you agree to its terms',
  },
  ACME_EMAIL: { default: '', means: 'DOMAIN: your address for messages of that server' },
  ACME_CA: {
    default: '',
    means:
      'DOMAIN: file with the authority that signed that server’s own certificate (PEM), if it is private',
  },
  TLS_CERT: {
    default: '',
    means:
      'file with a certificate and those that sign it (PEM), read again when it changes. If set, PORT speaks TLS, and no proxy is needed',
  },
  TLS_KEY: { default: '', means: 'file with the private key of TLS_CERT (PEM)' },
} as const

/** Returns a setting's text, or its default if the operator did not set it. */
export type CertificateSettingText = (name: keyof typeof certificateSettings) => string

/** How a certificate is ordered. */
export interface AcmeConfig {
  /** The DNS name or IP address, without brackets. */
  readonly host: string
  readonly directory: string
  readonly email: string | undefined
  readonly caFile: string | undefined
}

/** Where the certificate comes from; the relay speaks no TLS if all are undefined. */
export interface CertificateConfig {
  /** The operator's own files. */
  readonly files: CertificateFiles | undefined
  readonly acme: AcmeConfig | undefined
  /** The port that sends browsers to https. */
  readonly httpPort: number | undefined
}

/**
 * What other settings are with DOMAIN, unless they are set.
 * @param port PORT, if it is set
 * @throws SettingError if DOMAIN is no host
 */
export function defaultsOfDomain(domain: string, port: string): Readonly<Record<string, string>> {
  if (domain === '') return {}
  if (!isHost(domain.toLowerCase()))
    throw new SettingError('DOMAIN', 'a name such as relay.example, or an IP address, and nothing else')
  const host = isIP(domain) === 6 ? `[${domain}]` : domain
  const suffix = port === '' || port === '443' ? '' : `:${port}`
  return { PORT: '443', HOST: '::', HTTP_PORT: '80', PUBLIC_URL: `https://${host}${suffix}` }
}

/** @throws SettingError at the first setting that cannot be used */
export function certificateConfigOf(
  text: CertificateSettingText,
  publicUrl: URL | undefined,
): CertificateConfig {
  const [cert, key] = [text('TLS_CERT'), text('TLS_KEY')]
  if ((cert === '') !== (key === ''))
    throw new SettingError(cert === '' ? 'TLS_CERT' : 'TLS_KEY', 'set too, because the other one is')
  const domain = canonicalHost(text('DOMAIN').toLowerCase())
  const isTls = cert !== '' || domain !== ''
  if (isTls && publicUrl?.protocol === 'http:')
    throw new SettingError(
      'PUBLIC_URL',
      `an address that begins with https://, because ${cert === '' ? 'DOMAIN' : 'TLS_CERT'} is set`,
    )
  if (domain !== '' && (!publicUrl || bareHost(publicUrl.hostname) !== domain))
    throw new SettingError('PUBLIC_URL', 'an address at the host of DOMAIN, or empty')
  if (domain !== '' && cert === '' && publicUrl?.pathname !== '/')
    throw new SettingError('PUBLIC_URL', 'an address without a path, because no proxy of DOMAIN removes it')
  const httpPort = httpPortOf(text('HTTP_PORT'))
  if (httpPort !== undefined && !publicUrl)
    throw new SettingError('PUBLIC_URL', 'the address to which HTTP_PORT sends browsers')
  if (httpPort === undefined && domain !== '' && cert === '')
    throw new SettingError('HTTP_PORT', 'a port, because the ACME server of DOMAIN asks there')
  const directory = text('ACME_DIRECTORY')
  if (!URL.canParse(directory) || !directory.startsWith('https://'))
    throw new SettingError('ACME_DIRECTORY', 'an address that begins with https://')
  const email = text('ACME_EMAIL') || undefined
  if (email !== undefined && !/^[^\s@,:?]+@[^\s@,:?]+$/.test(email))
    throw new SettingError('ACME_EMAIL', 'one address, such as you@relay.example')
  const acme = { host: domain, directory, email, caFile: text('ACME_CA') || undefined }
  return {
    files: cert === '' ? undefined : { cert, key },
    acme: domain === '' || cert !== '' ? undefined : acme,
    httpPort,
  }
}

// An IPv6 address has several texts, of which a URL has the shortest.
function canonicalHost(host: string): string {
  return isIP(host) === 6 ? bareHost(new URL(`https://[${host}]`).hostname) : host
}

function isHost(text: string): boolean {
  // An address with a zone (`fe80::1%eth0`) is known to one machine only.
  if (isIP(text) !== 0) return !text.includes('%')
  return /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*$/.test(text)
}

function httpPortOf(text: string): number | undefined {
  if (text === 'off') return undefined
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw new SettingError('HTTP_PORT', 'a port from 1 to 65535, or off')
  return port
}
