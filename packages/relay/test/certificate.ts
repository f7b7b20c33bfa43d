// Certificates for the tests' servers, signed by an authority that only the tests trust. (X.509, written as
// DER by hand, so that no test needs a program for it.)
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'

/** A server's key and certificate, and the authority its clients must trust. */
export interface Certified {
  /** The server's private key, PEM. */
  readonly key: string
  /** Its certificate, PEM. */
  readonly cert: string
  /** The authority's certificate, PEM. */
  readonly authority: string
}

/** Makes a certificate for hosts and IPv4 addresses, signed by a new authority. */
export function certify(hosts: readonly string[]): Certified {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  // A name of its own, because clients find an authority by its name.
  const issuer = { name: `Sotto tests ${randomBytes(8).toString('hex')}`, key: authority.privateKey }
  const isAuthority = extension('551d13', der(0x30, der(0x01, Buffer.of(0xff))), true)
  const names = hosts.map((host) =>
    isIP(host) === 4 ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host)),
  )
  return {
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: certificate('server', server.publicKey, issuer, extension('551d11', der(0x30, ...names))),
    authority: certificate(issuer.name, authority.publicKey, issuer, isAuthority),
  }
}

function certificate(
  name: string,
  publicKey: KeyObject,
  issuer: { name: string; key: KeyObject },
  extensions: Buffer,
): string {
  const ecdsaWithSha256 = der(0x30, oid('2a8648ce3d040302'))
  const hourMs = 3_600_000
  const [begin, end] = [time(Date.now() - hourMs), time(Date.now() + 24 * hourMs)]
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ecdsaWithSha256,
    nameOf(issuer.name),
    der(0x30, begin, end),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, extensions)),
  )
  const signature = der(0x03, Buffer.of(0), sign('sha256', body, issuer.key))
  const base64 = der(0x30, body, ecdsaWithSha256, signature).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}

function nameOf(text: string): Buffer {
  return der(0x30, der(0x31, der(0x30, oid('550403'), der(0x0c, Buffer.from(text)))))
}

function time(ms: number): Buffer {
  const digits = new Date(ms)
    .toISOString()
    .replaceAll(/[-:T]|\.\d+/g, '')
    .slice(2)
  return der(0x17, Buffer.from(digits))
}

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  return der(0x30, oid(id), ...(isCritical ? [der(0x01, Buffer.of(0xff))] : []), der(0x04, value))
}
