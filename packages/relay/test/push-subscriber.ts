// A browser's side of Web Push, made only with WebCrypto and without the project's code: its keys, decrypting
// a push (RFC 8291), and checking the sender's signature (RFC 8292).
const { subtle } = globalThis.crypto

/** A subscribed browser. */
export interface Subscriber {
  /** What it sends to the relay: `PushSubscription.toJSON()`. */
  readonly body: { endpoint: string; expirationTime: null; keys: { p256dh: string; auth: string } }
  readonly keys: CryptoKeyPair
  readonly auth: Uint8Array<ArrayBuffer>
}

type Bytes = Uint8Array<ArrayBuffer>

const base64url = (bytes: Uint8Array | ArrayBuffer): string =>
  Buffer.from(bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes).toString('base64url')
const bytesOf = (text: string): Bytes => new Uint8Array(Buffer.from(text, 'base64url'))
const utf8 = (text: string): Bytes => new TextEncoder().encode(text)
const joined = (...parts: Uint8Array[]): Bytes => new Uint8Array(Buffer.concat(parts))

/** A new subscription at this endpoint. */
export async function subscriber(endpoint: string): Promise<Subscriber> {
  const keys = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])
  const auth = crypto.getRandomValues(new Uint8Array(16))
  const p256dh = base64url(await subtle.exportKey('raw', keys.publicKey))
  return { body: { endpoint, expirationTime: null, keys: { p256dh, auth: base64url(auth) } }, keys, auth }
}

/** Decrypts a body. @throws if it was encrypted for another browser or was changed */
export async function readPush(browser: Subscriber, body: Uint8Array): Promise<string> {
  const [salt, idLength] = [body.slice(0, 16), body[20] ?? 0]
  const sender = new Uint8Array(body.slice(21, 21 + idLength))
  const record = new Uint8Array(body.slice(21 + idLength))
  const senderKey = await subtle.importKey('raw', sender, { name: 'ECDH', namedCurve: 'P-256' }, false, [])
  const secret = await subtle.deriveBits({ name: 'ECDH', public: senderKey }, browser.keys.privateKey, 256)
  const own = new Uint8Array(await subtle.exportKey('raw', browser.keys.publicKey))
  const material = await hkdf(
    new Uint8Array(secret),
    browser.auth,
    joined(utf8('WebPush: info\0'), own, sender),
    32,
  )
  const key = await hkdf(material, new Uint8Array(salt), utf8('Content-Encoding: aes128gcm\0'), 16)
  const iv = await hkdf(material, new Uint8Array(salt), utf8('Content-Encoding: nonce\0'), 12)
  const aes = await subtle.importKey('raw', key, 'AES-GCM', false, ['decrypt'])
  const plain = new Uint8Array(await subtle.decrypt({ name: 'AES-GCM', iv }, aes, record))
  const end = plain.findLastIndex((byte) => byte !== 0)
  if (plain[end] !== 2) throw new Error('the last record is not closed')
  return new TextDecoder().decode(plain.subarray(0, end))
}

async function hkdf(material: Bytes, salt: Bytes, info: Bytes, length: number): Promise<Bytes> {
  const key = await subtle.importKey('raw', material, 'HKDF', false, ['deriveBits'])
  const bits = await subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, key, length * 8)
  return new Uint8Array(bits)
}

/**
 * The claims of an `Authorization: vapid` header. @throws if the signature does not match the key in it
 */
export async function readVapid(header: string): Promise<{ key: string; claims: Record<string, unknown> }> {
  const { token = '', key = '' } = /^vapid t=(?<token>[\w.-]+), ?k=(?<key>[\w-]+)$/.exec(header)?.groups ?? {}
  const [head = '', claims = '', signature = ''] = token.split('.')
  const { alg, typ } = JSON.parse(Buffer.from(head, 'base64url').toString())
  if (alg !== 'ES256' || typ !== 'JWT') throw new Error(`signed by ${alg}, as ${typ}`)
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
  const publicKey = await subtle.importKey('raw', bytesOf(key), algorithm, false, ['verify'])
  const isRight = await subtle.verify(
    { name: 'ECDSA', hash: 'SHA-256' },
    publicKey,
    bytesOf(signature),
    utf8(`${head}.${claims}`),
  )
  if (!isRight) throw new Error('the signature is wrong')
  return { key, claims: JSON.parse(Buffer.from(claims, 'base64url').toString()) }
}
