// Which addresses a push may be sent to.
import { describe, expect, test } from 'bun:test'
import { BlockList, isIP } from 'node:net'
import { operatorsConfiguration } from '../../test/coturn.ts'
import { AllowedHosts, isPublicAddress } from './public-addresses.ts'

describe('a push is sent to', () => {
  test.each([
    ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.0.0.1'],
    ...['172.15.255.255', '172.32.0.0', '192.167.0.1', '198.17.0.1', '198.20.0.1', '223.255.255.255'],
    ...['2606:4700:4700::1111', '2a00:1450:4001::200e', '2001:200::1', '2620:4f:7fff::1', '2003::1'],
  ])('%s', (address) => expect(isPublicAddress(address)).toBe(true))
})

describe('no push is sent to', () => {
  test.each([
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1'],
    ...['127.255.255.255', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1'],
    ...['192.88.99.1', '192.168.0.1', '198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.7'],
    ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
    ...['::', '::1', '::ffff:8.8.8.8', '::ffff:127.0.0.1', '::ffff:7f00:1', '::8.8.8.8', '::ffff:0:8.8.8.8'],
    ...['64:ff9b::8.8.8.8', '64:ff9b::7f00:1', '64:ff9b:1::1', '100::1', '2001::1', '2001:0:7f00:1::1'],
    ...['2001:10::1', '2001:20::1', '2001:db8::1', '2002:7f00:1::1', '2002:808:808::1', '3fff::1', '5f00::1'],
    ...['fc00::1', 'fd12:3456::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '2606:4700::1%eth0'],
    ...['', 'localhost', 'example.com', '1.1.1', '01.1.1.1', '0x7f.0.0.1', '2130706433', '1.1.1.1 ', '[::1]'],
  ])('"%s"', (address) => expect(isPublicAddress(address)).toBe(false))
})

/**
 * IANA's registries of special-purpose networks and unallocated networks, each with its first and last
 * address.
 */
const SPECIAL_NETWORKS = [
  ['0.0.0.0/8', '0.0.0.0', '0.255.255.255'],
  ['10.0.0.0/8', '10.0.0.0', '10.255.255.255'],
  ['100.64.0.0/10', '100.64.0.0', '100.127.255.255'],
  ['127.0.0.0/8', '127.0.0.0', '127.255.255.255'],
  ['169.254.0.0/16', '169.254.0.0', '169.254.255.255'],
  ['172.16.0.0/12', '172.16.0.0', '172.31.255.255'],
  ['192.0.0.0/24', '192.0.0.0', '192.0.0.255'],
  ['192.0.2.0/24', '192.0.2.0', '192.0.2.255'],
  ['192.31.196.0/24', '192.31.196.0', '192.31.196.255'],
  ['192.52.193.0/24', '192.52.193.0', '192.52.193.255'],
  ['192.88.99.0/24', '192.88.99.0', '192.88.99.255'],
  ['192.168.0.0/16', '192.168.0.0', '192.168.255.255'],
  ['192.175.48.0/24', '192.175.48.0', '192.175.48.255'],
  ['198.18.0.0/15', '198.18.0.0', '198.19.255.255'],
  ['198.51.100.0/24', '198.51.100.0', '198.51.100.255'],
  ['203.0.113.0/24', '203.0.113.0', '203.0.113.255'],
  ['224.0.0.0/4', '224.0.0.0', '239.255.255.255'],
  ['240.0.0.0/4', '240.0.0.0', '255.255.255.255'],
  ['::/128', '::', '::'],
  ['::1/128', '::1', '::1'],
  ['::/96', '::', '::ffff:ffff'],
  ['::ffff:0:0/96', '::ffff:0:0', '::ffff:ffff:ffff'],
  ['::ffff:0:0:0/96', '::ffff:0:0:0', '::ffff:0:ffff:ffff'],
  ['64:ff9b::/96', '64:ff9b::', '64:ff9b::ffff:ffff'],
  ['64:ff9b:1::/48', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['100::/64', '100::', '100::ffff:ffff:ffff:ffff'],
  ['100:0:0:1::/64', '100:0:0:1::', '100::1:ffff:ffff:ffff:ffff'],
  ['2001::/23', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001::/32', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:1::1/128', '2001:1::1', '2001:1::1'],
  ['2001:1::2/128', '2001:1::2', '2001:1::2'],
  ['2001:1::3/128', '2001:1::3', '2001:1::3'],
  ['2001:2::/48', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['2001:3::/32', '2001:3::', '2001:3:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:4:112::/48', '2001:4:112::', '2001:4:112:ffff:ffff:ffff:ffff:ffff'],
  ['2001:10::/28', '2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:20::/28', '2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:30::/28', '2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2002::/16', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2620:4f:8000::/48', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['5f00::/16', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fc00::/7', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fe80::/10', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fec0::/10', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ff00::/8', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['::/3', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['4000::/2', '4000::', '7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['8000::/1', '8000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
] as const

test.each(SPECIAL_NETWORKS)(
  'no push is sent to %s, neither to its first address nor to its last',
  (_, first, last) => {
    expect([first, last].map(isPublicAddress)).toEqual([false, false])
  },
)

test('the TURN server that calls.md sets up reaches none of them', async () => {
  const denied = new BlockList()
  const ranges = (await operatorsConfiguration()).matchAll(/^denied-peer-ip=(?<first>.+)-(?<last>.+)$/gm)
  const ends: string[] = []
  for (const { groups: { first = '', last = '' } = {} } of ranges) {
    denied.addRange(first, last, isIP(first) === 4 ? 'ipv4' : 'ipv6')
    ends.push(first, last)
  }
  expect(ends.filter(isPublicAddress)).toEqual([])
  const special = SPECIAL_NETWORKS.flatMap(([, first, last]) => [first, last])
  const isDenied = (address: string) => denied.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
  expect(special.filter((address) => !isDenied(address))).toEqual([])
})

describe('the operator’s exceptions', () => {
  const allowed = new AllowedHosts(['Push.Example', 'gateway', '10.1.0.0/16', '192.168.1.7', 'fd00::/8'])

  test('match hosts by their whole name', () => {
    expect(allowed.hasHost('push.example')).toBe(true)
    expect(allowed.hasHost('gateway')).toBe(true)
    for (const host of ['a.push.example', 'push.example.org', 'xpush.example', 'example']) {
      expect(allowed.hasHost(host)).toBe(false)
    }
  })

  test('match networks and addresses exactly, to the last bit', () => {
    for (const address of ['10.1.0.0', '10.1.255.255', '192.168.1.7', 'fd12::1'])
      expect(allowed.hasAddress(address)).toBe(true)
    for (const address of ['10.2.0.0', '10.0.255.255', '192.168.1.8', 'fe80::1', '127.0.0.1', 'gateway'])
      expect(allowed.hasAddress(address)).toBe(false)
  })

  test.each([
    '*',
    '*.example',
    'https://push.example',
    'push.example:8443',
    '10.0.0.0/33',
    '10.0.0.0/',
    'a/8',
    '',
  ])('cannot be "%s"', (entry) => expect(() => new AllowedHosts([entry])).toThrow(TypeError))
})
