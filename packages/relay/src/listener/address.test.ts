// The address that rates by address use for a request.
import { describe, expect, test } from 'bun:test'
import { clientAddress, wholeAddress, widerNetworksOf } from './address.ts'

const PROXY = '10.0.0.1'

describe('an address', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:c000:207', '192.0.2.7'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.7', '192.0.2.7'],
    ['64:FF9B::c000:207', '192.0.2.7'],
    ['64:ff9b:0:0:0:1:c000:207', '64:ff9b:0:0::/64'],
    ['64:ff9b:1::192.0.2.7', '64:ff9b:1:0::/64'],
    ['::ffff:0:192.0.2.7', '0:0:0:0::/64'],
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
    [1, '192.0.2.1:443', '192.0.2.1'],
    [1, '6.6.6.6:1, 192.0.2.1:65535', '192.0.2.1'],
    [1, '[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
    [1, '[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
    [1, '[::ffff:192.0.2.1]:443', '192.0.2.1'],
    [1, '2001:db8:1:2:3:4:5:6:443', '2001:db8:1:2::/64'],
    [2, '[2001:db8:1:2::9]:443, 10.0.0.2:80', '2001:db8:1:2::/64'],
    [1, '192.0.2.1:', PROXY],
    [1, '192.0.2.1:443:80', PROXY],
    [1, '192.0.2.1:123456', PROXY],
    [1, '[192.0.2.1', PROXY],
    [1, '[]:443', PROXY],
    [1, ':443', PROXY],
    [1, `${'['.repeat(20_000)}:443`, PROXY],
    [1, '2001:db8:1:2::9', '2001:db8:1:2::/64'],
    [1, '192.0.2.1, x'.repeat(1000), PROXY],
  ])('behind %d proxies of ours, %p means %s', (proxies, header, address) => {
    expect(clientAddress(PROXY, header, proxies)).toBe(address)
  })
})

test('a missing address of the client is reported, but not if no proxy is trusted', () => {
  const missing: (string | null)[] = []
  for (const header of [null, 'unknown', '192.0.2.1'])
    for (const proxies of [0, 1]) clientAddress(PROXY, header, proxies, () => missing.push(header))
  expect(missing).toEqual([null, 'unknown'])
})

test('the wider networks of an IPv6 address are its /32 and its /48; an IPv4 address has none', () => {
  expect(widerNetworksOf(clientAddress('2001:db8:1:2::9', null, 0))).toEqual([
    { name: '2001:db8::/32', times: 256 },
    { name: '2001:db8:1::/48', times: 16 },
  ])
  expect(widerNetworksOf(clientAddress('192.0.2.1', null, 0))).toEqual([])
})

test('an address is written in one way, however it was given', () => {
  for (const given of ['2001:db8::9', '2001:0DB8:0:0:0:0:0:9', '2001:db8:0:0::0.0.0.9'])
    expect(wholeAddress(given)).toBe('2001:db8:0:0:0:0:0:9')
  for (const given of ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:c000:201', '64:ff9b::192.0.2.1'])
    expect(wholeAddress(given)).toBe('192.0.2.1')
})
