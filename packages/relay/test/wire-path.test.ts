// A relay behind a proxy that removes the path of its address: all addresses that it gives have the path.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { bytesOf, noise } from './media-wire.ts'
import { openPathProxy, type PathProxy } from './path-proxy.ts'
import { useRelayWith } from './use-relay.ts'
import { call, message, wireAccount, wireFriends } from './wire.ts'

let proxy: PathProxy
beforeAll(async () => {
  proxy = await openPathProxy()
})
const relay = useRelayWith(async () => ({ PUBLIC_URL: proxy.url, PAYMENTS: 'dev', TRUST_PROXY: '1' }))
beforeAll(() => proxy.leadTo(relay.url))
afterAll(() => proxy?.close())

test('people log in at its host, and talk over a WebSocket', async () => {
  const { alice, bob, conv } = await wireFriends(proxy.url)
  const [hers, his] = [(await alice.online()).socket, (await bob.online()).socket]
  hers.send(message(bob.alias, conv, 'hello'))
  await hers.next('ack')
  expect(await his.next('msg')).toMatchObject({ conv_id: conv })
  await Promise.all([hers.close(), his.close()])
})

test('the API document names the path as its server', async () => {
  const address = `${proxy.url}/openapi.json`
  const [server] = (await call(address)).body.servers
  expect(new URL(server.url, address).href).toBe(`${proxy.url}/`)
})

test('links to media, and the page of a payment with all its parts, are below the path', async () => {
  const alice = await wireAccount(proxy.url)
  const bytes = noise(1000)
  const { body: up } = await alice.post('/media/upload-url', { size: bytes.length })
  expect(up.upload_url).toStartWith(`${proxy.url}/api/v1/media/links/`)
  expect((await fetch(up.upload_url, { method: 'PUT', body: bytes })).status).toBe(200)
  const { body: down } = await alice.get(`/media/download-url?key=${up.media_key}`)
  expect(down.download_url).toStartWith(`${proxy.url}/api/v1/media/links/`)
  expect(await bytesOf(await fetch(down.download_url))).toEqual(bytes)

  const { body: order } = await alice.post('/vanity/purchase', { alias_id: 'river_path' })
  expect(order.payment_url).toStartWith(`${proxy.url}/pay/`)
  const page = await call(order.payment_url)
  expect(page.status).toBe(200)
  const parts = Array.from(page.text.matchAll(/ (?:href|src)="([^"#:]+)"/g), ([, part = '']) => part)
  expect(parts.length).toBeGreaterThan(2)
  for (const part of parts) {
    const { href } = new URL(part, order.payment_url)
    expect(href).toStartWith(`${proxy.url}/pay/`)
    if (!part.includes('receipt')) expect((await call(href)).status).toBe(200)
  }
  expect(proxy.strays).toEqual([])
})
