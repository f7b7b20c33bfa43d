// What openssl reads in our signing requests.
import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { certificateRequest } from './certificate-request.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

test.each([
  ['relay.example', 'DNS:relay.example'],
  [`${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.example`, `DNS:${'a'.repeat(60)}.`],
  ['192.0.2.7', 'IP Address:192.0.2.7'],
  ['::1', 'IP Address:0:0:0:0:0:0:0:1'],
  ['2001:db8::5:0:1', 'IP Address:2001:DB8:0:0:0:5:0:1'],
  ['2001:db8::', 'IP Address:2001:DB8:0:0:0:0:0:0'],
  ['2001:0db8:1:2:3:4:5:6', 'IP Address:2001:DB8:1:2:3:4:5:6'],
  ['::ffff:192.0.2.7', 'IP Address:0:0:0:0:0:FFFF:C000:207'],
])('a request for %s is signed by its key and names the host', (host, name) => {
  const read = Bun.spawnSync(['openssl', 'req', '-inform', 'DER', '-noout', '-text', '-verify'], {
    stdin: certificateRequest(host, privateKey),
    stderr: 'pipe',
  })
  expect(`${read.stdout}${read.stderr}`).toMatch(/verify OK/i)
  expect(read.stdout.toString()).toContain(name)
  expect(read.stdout.toString()).toMatch(/Subject:\s/)
})
