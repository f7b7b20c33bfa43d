// A small client for STUN and TURN (RFC 8489, RFC 8656): asks a server for an address, and gives it back.
import { createHash, createHmac } from 'node:crypto'
import type { RandomBytes } from '../operations/random.ts'
import { openStunLink, StunFailure, type StunLink, type StunServer } from './stun-link.ts'

const COOKIE = 0x2112a442
const HEADER_BYTES = 20
const INTEGRITY_BYTES = 24
const types = { bind: 0x0001, allocate: 0x0003, refresh: 0x0004 } as const
const SUCCESS = 0x0100
const attributes = {
  username: 0x0006,
  integrity: 0x0008,
  error: 0x0009,
  lifetime: 0x000d,
  relayedAddress: 0x0016,
  realm: 0x0014,
  nonce: 0x0015,
  transport: 0x0019,
  mappedAddress: 0x0020,
} as const
const UDP = Buffer.of(17, 0, 0, 0)
const [UNAUTHORIZED, STALE_NONCE, QUOTA, NO_CAPACITY] = [401, 438, 486, 508]

/** Credentials for a TURN server. */
export interface TurnCredentials {
  readonly username: string
  readonly credential: string
}

type Attributes = ReadonlyMap<number, Buffer>

/** @returns this machine's address as the server sees it @throws StunFailure */
export async function bind(server: StunServer, randomBytes: RandomBytes): Promise<string> {
  using link = await openStunLink(server)
  const answer = await ask(link, types.bind, [], { randomBytes })
  const address = answer.attributes.get(attributes.mappedAddress)
  if (!answer.isSuccess || !address) throw unexpected(answer)
  return addressOf(address, answer.id)
}

/**
 * Makes an allocation and ends it.
 * @returns the address that the server gave
 * @throws StunFailure if it gives none with these credentials
 */
export async function allocate(
  server: StunServer,
  { username, credential }: TurnCredentials,
  randomBytes: RandomBytes,
): Promise<string> {
  using link = await openStunLink(server)
  const wanted: [number, Buffer][] = [[attributes.transport, UDP]]
  const challenge = await ask(link, types.allocate, wanted, { randomBytes })
  const [realm, nonce] = [attributes.realm, attributes.nonce].map((name) => challenge.attributes.get(name))
  if (challenge.isSuccess)
    throw new StunFailure('it lets everybody in', 'let it demand credentials (use-auth-secret)')
  if (challenge.code !== UNAUTHORIZED || !realm || !nonce) throw unexpected(challenge)
  const key = createHash('md5').update(`${username}:${realm}:${credential}`).digest()
  const signed: [number, Buffer][] = [
    [attributes.username, Buffer.from(username)],
    [attributes.realm, realm],
    [attributes.nonce, nonce],
  ]
  const answer = await ask(link, types.allocate, [...wanted, ...signed], { randomBytes, key })
  const address = answer.attributes.get(attributes.relayedAddress)
  if (!answer.isSuccess || !address) throw refused(answer)
  await ask(link, types.refresh, [[attributes.lifetime, Buffer.alloc(4)], ...signed], { randomBytes, key })
  return addressOf(address, answer.id)
}

interface StunAnswer {
  readonly isSuccess: boolean
  /** The error's number; undefined if there is none. */
  readonly code: number | undefined
  readonly id: Buffer
  readonly attributes: Attributes
}

async function ask(
  link: StunLink,
  type: number,
  values: readonly (readonly [number, Buffer])[],
  { randomBytes, key }: { randomBytes: RandomBytes; key?: Buffer },
): Promise<StunAnswer> {
  const id = Buffer.from(randomBytes(12))
  const message = await link.ask(messageOf(type, id, values, key), id)
  const found = attributesOf(message)
  const error = found.get(attributes.error)
  return {
    isSuccess: message.readUInt16BE(0) === (type | SUCCESS),
    code: error && error.length >= 4 ? error.readUInt8(2) * 100 + error.readUInt8(3) : undefined,
    ...{ id, attributes: found },
  }
}

function messageOf(
  type: number,
  id: Buffer,
  values: readonly (readonly [number, Buffer])[],
  key: Buffer | undefined,
): Buffer {
  const body = Buffer.concat(values.map(([name, value]) => attributeOf(name, value)))
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt16BE(type, 0)
  header.writeUInt16BE(body.length + (key ? INTEGRITY_BYTES : 0), 2)
  header.writeUInt32BE(COOKIE, 4)
  id.copy(header, 8)
  const message = Buffer.concat([header, body])
  if (!key) return message
  const integrity = createHmac('sha1', key).update(message).digest()
  return Buffer.concat([message, attributeOf(attributes.integrity, integrity)])
}

function attributeOf(name: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16BE(name, 0)
  head.writeUInt16BE(value.length, 2)
  return Buffer.concat([head, value, Buffer.alloc(-value.length & 3)])
}

function attributesOf(message: Buffer): Attributes {
  const found = new Map<number, Buffer>()
  for (let at = HEADER_BYTES; at + 4 <= message.length; ) {
    const length = message.readUInt16BE(at + 2)
    found.set(message.readUInt16BE(at), message.subarray(at + 4, at + 4 + length))
    at += 4 + length + (-length & 3)
  }
  return found
}

// The address is XORed with the cookie, and an IPv6 address also with the transaction's id.
function addressOf(value: Buffer, id: Buffer): string {
  const cookie = Buffer.alloc(4)
  cookie.writeUInt32BE(COOKIE)
  const mask = Buffer.concat([cookie, id])
  const bytes = value.subarray(4).map((byte, at) => byte ^ (mask[at] ?? 0))
  if (bytes.length === 4) return bytes.join('.')
  return Array.from({ length: bytes.length / 2 }, (_, at) =>
    (((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0)).toString(16),
  ).join(':')
}

function refused(answer: StunAnswer): StunFailure {
  const { code } = answer
  if (code === UNAUTHORIZED || code === STALE_NONCE)
    return new StunFailure(
      'it refuses the credentials',
      'set TURN_SECRET to the server’s static-auth-secret, and compare the clocks of both machines',
    )
  if (code === QUOTA || code === NO_CAPACITY)
    return new StunFailure('it has no more addresses to give', 'raise its total-quota, or add a server')
  return unexpected(answer)
}

function unexpected({ code }: StunAnswer): StunFailure {
  const what = code === undefined ? 'its answer is not of STUN' : `it answers with error ${code}`
  return new StunFailure(what, 'check whether this is the address of the TURN or STUN server')
}
