// The address that rates by address use for a request.
import { describe, expect, test } from 'bun:test'
import { clientAddress } from './address.ts'

const PROXY = '10.0.0.1'

describe('an address', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:192.0.2.7', '192.0.2.7'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
    ['', ''],
  ])('%s counts as %s', (address, group) => {
    expect(clientAddress(address, null, 0)).toBe(group)
  })
})

describe('X-Forwarded-For', () => {
  test.each([
    [0, '192.0.2.1', PROXY],
    [1, null, PROXY],
    [1, '', PROXY],
    [1, '192.0.2.1', '192.0.2.1'],
    [1, '6.6.6.6, 192.0.2.1', '192.0.2.1'],
    [2, '6.6.6.6, 192.0.2.1, 10.0.0.2', '192.0.2.1'],
    [2, '192.0.2.1', '192.0.2.1'],
    [1, '192.0.2.1,', PROXY],
    [1, 'unknown', PROXY],
    [1, '192.0.2.1:443', PROXY],
    [1, '2001:db8:1:2::9', '2001:db8:1:2::/64'],
    [1, '192.0.2.1, x'.repeat(1000), PROXY],
  ])('behind %d proxies of ours, %p means %s', (proxies, header, address) => {
    expect(clientAddress(PROXY, header, proxies)).toBe(address)
  })
})
