// The counts of requests under way and WebSockets, and the caps that they are held to.
import { expect, test } from 'bun:test'
import { ProtocolError } from '@sotto/protocol'
import { createLog } from '../operations/log.ts'
import { type ConnectionCaps, connectionCapsOf } from './connection-caps.ts'
import { ConnectionsInUse, connectionKey } from './connections-in-use.ts'

const asSet = { connections: 0, addressConnections: 0 }

test('the caps come from the descriptor limit, less what is kept for files', () => {
  expect(connectionCapsOf(asSet, 700)).toEqual({
    total: 525,
    withoutLogin: 460,
    address: 132,
    descriptors: 612,
  })
  expect(connectionCapsOf(asSet, 20_000)).toMatchObject({ total: 18_976, address: 4744 })
  const small = { connections: 100, addressConnections: 7 }
  expect(connectionCapsOf(small, 700)).toMatchObject({ total: 100, withoutLogin: 88, address: 7 })
  expect(connectionCapsOf({ ...asSet, connections: 5000 }, 700).total).toBe(525)
})

test('an address has only so many, a /48 twice and a /32 three times as many', () => {
  const inUse = countedUpTo({ total: 1000, withoutLogin: 1000, address: 10, descriptors: 1000 })
  const begun = (address: string): number => {
    for (let n = 0; ; n++) if (codeOf(inUse, address)) return n
  }
  expect(begun('192.0.2.1')).toBe(10)
  expect(begun('192.0.2.2')).toBe(10)
  expect(begun('2001:db8:1:1::/64')).toBe(10)
  expect(begun('2001:db8:1:2::/64')).toBe(10)
  expect(begun('2001:db8:1:3::/64')).toBe(0)
  expect(begun('2001:db8:2:1::/64')).toBe(10)
  expect(begun('2001:db8:3:1::/64')).toBe(0)
  expect(begun('2001:db9:3:1::/64')).toBe(10)
})

test('a place is free again once, however often its end is told, and a refused one takes none', () => {
  const inUse = countedUpTo({ total: 3, withoutLogin: 2, address: 10, descriptors: 10 })
  const one = inUse.begin(user('192.0.2.1'))
  inUse.begin(user('192.0.2.2'))
  expect(codeOf(inUse, '192.0.2.3')).toBe('TOO_MANY_CONNECTIONS')
  expect(codeOf(inUse, '192.0.2.3', true)).toBeUndefined() // Kept back for accounts.
  expect(codeOf(inUse, '192.0.2.3', true)).toBe('TOO_MANY_CONNECTIONS')
  one.end()
  one.end()
  expect(codeOf(inUse, '192.0.2.3', true)).toBeUndefined()
  expect(codeOf(inUse, '192.0.2.3', true)).toBe('TOO_MANY_CONNECTIONS')
})

test('a connection is in use until its last request has ended', () => {
  const inUse = countedUpTo({ total: 10, withoutLogin: 10, address: 10, descriptors: 10 })
  const [one, two] = [inUse.begin(user('192.0.2.1')), inUse.begin(user('192.0.2.1'))]
  one.end()
  expect(inUse.has('1 192.0.2.1')).toBe(true)
  two.end()
  expect(inUse.has('1 192.0.2.1')).toBe(false)
})

test('a connection is not in use because another address of its /64 uses the same port', () => {
  const inUse = countedUpTo({ total: 10, withoutLogin: 10, address: 10, descriptors: 10 })
  const address = '2001:db8:0:1::/64'
  inUse.begin({ address, key: connectionKey('2001:db8:0:1::1', 5001), isForAccounts: false })
  expect(inUse.has(connectionKey('2001:db8:0:1::2', 5001))).toBe(false)
  expect(inUse.has(connectionKey('2001:0db8:0:1:0:0:0:1', 5001))).toBe(true)
})

function countedUpTo(caps: ConnectionCaps): ConnectionsInUse {
  return new ConnectionsInUse(caps, { log: createLog('silent'), clock: { now: () => 0, monotonic: () => 0 } })
}

function user(address: string, isForAccounts = false) {
  return { address, key: `1 ${address}`, isForAccounts }
}

/** The code with which it is refused; undefined if it begins. */
function codeOf(inUse: ConnectionsInUse, address: string, isForAccounts = false): string | undefined {
  try {
    inUse.begin(user(address, isForAccounts))
    return undefined
  } catch (error) {
    return error instanceof ProtocolError ? error.code : 'not a ProtocolError'
  }
}
