// Writes a certificate signing request (PKCS #10, RFC 2986): the public key, the host, and a signature.
import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import { isIP } from 'node:net'

const [SEQUENCE, SET_OF_EXTENSIONS, OBJECT_ID, OCTETS, BITS] = [0x30, 0x31, 0x06, 0x04, 0x03]
const ATTRIBUTES = 0xa0
const [DNS_NAME, IP_ADDRESS] = [0x82, 0x87]
const EXTENSION_REQUEST = '2a864886f70d01090e'
const SUBJECT_ALT_NAME = '551d11'
const ECDSA_WITH_SHA256 = '2a8648ce3d040302'

/**
 * @param host a DNS name or an IP address
 * @param key a private key on the curve P-256
 * @returns the request in DER
 */
export function certificateRequest(host: string, key: KeyObject): Buffer {
  const name = isIP(host) ? der(IP_ADDRESS, addressBytes(host)) : der(DNS_NAME, Buffer.from(host))
  const extension = der(SEQUENCE, objectId(SUBJECT_ALT_NAME), der(OCTETS, der(SEQUENCE, name)))
  const extensions = der(SET_OF_EXTENSIONS, der(SEQUENCE, extension))
  const body = der(
    SEQUENCE,
    der(0x02, Buffer.of(0)), // The version.
    der(SEQUENCE), // The subject: none, because names are in the extension.
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    der(ATTRIBUTES, der(SEQUENCE, objectId(EXTENSION_REQUEST), extensions)),
  )
  const signature = der(BITS, Buffer.of(0), sign('sha256', body, key))
  return der(SEQUENCE, body, der(SEQUENCE, objectId(ECDSA_WITH_SHA256)), signature)
}

function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

function objectId(hex: string): Buffer {
  return der(OBJECT_ID, Buffer.from(hex, 'hex'))
}

/** The 4 or 16 bytes of an IP address. */
function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string | undefined): string[] => (text ? text.split(':') : [])
  const zeros = Array<string>(8 - groups(head).length - groups(tail).length).fill('0')
  const all = tail === undefined ? groups(head) : [...groups(head), ...zeros, ...groups(tail)]
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
