// Which addresses a push may be sent to.
import { describe, expect, test } from 'bun:test'
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

describe('what the operator excepts', () => {
  const allowed = new AllowedHosts(['Push.Example', 'gateway', '10.1.0.0/16', '192.168.1.7', 'fd00::/8'])

  test('are hosts by their whole name', () => {
    expect(allowed.hasHost('push.example')).toBe(true)
    expect(allowed.hasHost('gateway')).toBe(true)
    for (const host of ['a.push.example', 'push.example.org', 'xpush.example', 'example']) {
      expect(allowed.hasHost(host)).toBe(false)
    }
  })

  test('are networks and addresses, each to its last bit', () => {
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
