// Push endpoints that an attacker chose: which ones are allowed, and what they can make the relay do.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { answer, type PushEndpoint, startPushEndpoint } from '../../test/push-endpoint.ts'
import { AllowedHosts } from './public-addresses.ts'
import { EndpointRefused, EndpointUnreachable, PushEndpointRequests } from './push-endpoint-requests.ts'

const never = new AbortController().signal
const message = { headers: { ttl: '1' }, body: new Uint8Array([1, 2, 3]) }
let service: PushEndpoint

beforeAll(async () => {
  service = await startPushEndpoint()
})
afterAll(() => service.stop())

/** Endpoint requests with a resolver that gives these answers in order and repeats the last one. */
function world(answers: readonly (readonly string[])[], allowed: readonly string[] = []) {
  const asked: string[] = []
  const network = {
    get authorities() {
      return service.authority
    },
    resolve: async (host: string) => {
      asked.push(host)
      const found = answers[Math.min(asked.length, answers.length) - 1]
      if (!found) throw new Error('ENOTFOUND')
      return found
    },
  }
  return { asked, requests: new PushEndpointRequests({ allowed: new AllowedHosts(allowed), network }) }
}

describe('an endpoint may be', () => {
  const { requests } = world([])
  test.each([
    'https://fcm.googleapis.com/fcm/send/abc:APA91b',
    'https://updates.push.services.mozilla.com/wpush/v2/gAAA',
    'https://wns2-par02p.notify.windows.com/w/?token=BQYAAAD%2f',
    'https://web.push.apple.com/QGuQyavXutnMH',
    'https://push.example.org:8443/x',
    'https://push.example.org:1024/x',
    'https://1.1.1.1/x',
    'https://[2606:4700:4700::1111]/x',
  ])('%s', (url) => expect(requests.parse(url).protocol).toBe('https:'))
})

describe('an endpoint may not be', () => {
  const { requests } = world([], ['gateway.internal', '10.9.0.0/16'])
  test.each([
    ...['http://push.example.org/x', 'ws://push.example.org/', 'file:///etc/passwd', 'https://', 'x', ''],
    ...[
      'https://me@push.example.org/',
      'https://me:secret@push.example.org/',
      'https://:secret@push.example.org/',
    ],
    ...['https://push.example.org:22/', 'https://push.example.org:80/', 'https://push.example.org:1023/'],
    ...['https://localhost/', 'https://localhost:8443/', 'https://router/', 'https://push.example.org./'],
    ...[
      'https://127.0.0.1/',
      'https://127.1/',
      'https://0x7f.1/',
      'https://2130706433/',
      'https://0177.0.0.1/',
    ],
    ...[
      'https://0.0.0.0/',
      'https://10.0.0.1/',
      'https://10.10.0.1/',
      'https://169.254.169.254/latest/meta-data/',
    ],
    ...['https://[::1]/', 'https://[::]/', 'https://[::ffff:127.0.0.1]/', 'https://[::ffff:8.8.8.8]/'],
    ...['https://[fe80::1]/', 'https://[fd00::1]/', 'https://[64:ff9b::7f00:1]/', 'https://[2002:7f00:1::]/'],
    ...['https://internal/', 'https://other.internal:22/'],
  ])('"%s"', (url) => expect(() => requests.parse(url)).toThrow(EndpointRefused))

  test.each(['https://gateway.internal:22/', 'https://10.9.1.1:22/x'])(
    'unless the operator excepts it: %s',
    (url) => expect(requests.parse(url).port).toBe('22'),
  )
})

describe('a post', () => {
  test('goes to the address that was checked, names the host, and reads no body', async () => {
    service.on('/long', (response) => {
      response.writeHead(201)
      const more = (): void => {
        if (!response.destroyed) response.write('x'.repeat(65_536), more)
      }
      more()
    })
    const { requests, asked } = world([['127.0.0.1']], ['push.test'])
    expect(await requests.post(service.url('/long', 'push.test'), message, never)).toEqual({
      status: 201,
      retryAfter: null,
    })
    const [push] = service.at('/long')
    expect(push?.headers.host).toBe(`push.test:${service.port}`)
    expect(push?.method).toBe('POST')
    expect([...(push?.body ?? [])]).toEqual([1, 2, 3])
    expect(asked).toEqual(['push.test'])
  })

  test('goes to an endpoint whose host is an IP address, with a certificate for that address', async () => {
    const { requests, asked } = world([], ['127.0.0.1'])
    expect((await requests.post(service.url('/bare', '127.0.0.1'), message, never)).status).toBe(201)
    expect(asked).toEqual([])
    expect(service.at('/bare')[0]?.headers.host).toBe(`127.0.0.1:${service.port}`)
  })

  test('tries the next address if one does not answer', async () => {
    const { requests } = world([['127.0.0.2', '127.0.0.1']], ['push.test'])
    expect((await requests.post(service.url('/next', 'push.test'), message, never)).status).toBe(201)
  })

  test('sends nothing if the certificate is for another host or its authority is unknown', async () => {
    const other = world([['127.0.0.1']], ['other.test']).requests
    expect(await failureOf(other.post(service.url('/cert', 'other.test'), message, never))).toBeInstanceOf(
      EndpointUnreachable,
    )
    const allowed = new AllowedHosts(['push.test'])
    const strange = new PushEndpointRequests({ allowed, network: { resolve: async () => ['127.0.0.1'] } })
    expect(await failureOf(strange.post(service.url('/cert', 'push.test'), message, never))).toBeInstanceOf(
      EndpointUnreachable,
    )
    expect(service.at('/cert')).toEqual([])
  })

  test.each([
    [['127.0.0.1']],
    [['93.184.216.34', '127.0.0.1']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['10.0.0.7']],
    [['0.0.0.0']],
    [['fe80::1%lo']],
  ])('sends nothing if the name resolves to an internal address: %p', async (addresses) => {
    const { requests } = world([addresses])
    expect(
      await failureOf(requests.post(service.url('/inside', 'push.test'), message, never)),
    ).toBeInstanceOf(EndpointRefused)
    expect(service.at('/inside')).toEqual([])
  })

  test('does not reach the internal network if the name resolves differently after the check', async () => {
    // Nothing listens at 127.0.0.9, and packets to it never leave this machine. It is excepted, so it plays
    // the role of a public address.
    const { requests, asked } = world([['127.0.0.9'], ['127.0.0.1']], ['127.0.0.9'])
    const ending = AbortSignal.timeout(1500)
    expect(
      await failureOf(requests.post(service.url('/rebound', 'push.test'), message, ending)),
    ).toBeInstanceOf(EndpointUnreachable)
    expect(asked).toEqual(['push.test'])
    expect(service.at('/rebound')).toEqual([])
    // A second post resolves the name to the internal address, and is refused.
    expect(
      await failureOf(requests.post(service.url('/rebound', 'push.test'), message, never)),
    ).toBeInstanceOf(EndpointRefused)
    expect(service.at('/rebound')).toEqual([])
  })

  test('connects to the address that was checked, even if the system resolves the name differently', async () => {
    const { requests } = world([['127.0.0.9']], ['localhost'])
    const ending = AbortSignal.timeout(1500)
    expect(
      await failureOf(requests.post(service.url('/by-name', 'localhost'), message, ending)),
    ).toBeInstanceOf(EndpointUnreachable)
    expect(service.at('/by-name')).toEqual([])
    // The service is reachable by its name, so this proves that the name was not resolved again.
    const tls = { ca: service.authority }
    expect((await fetch(service.url('/by-name', 'localhost'), { method: 'POST', tls })).status).toBe(201)
  })

  test('follows no redirect', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      service.on(`/from/${status}`, answer(status, { location: service.url('/led', '127.0.0.1') }))
      const { requests } = world([['127.0.0.1']], ['push.test'])
      const answered = await requests.post(service.url(`/from/${status}`, 'push.test'), message, never)
      expect(answered.status).toBe(status)
    }
    expect(service.at('/led')).toEqual([])
  })

  test('ends on its own if the resolver, the connection or the service does not answer', async () => {
    service.on('/hangs', () => undefined)
    const { requests } = world([['127.0.0.1']], ['push.test'])
    const began = performance.now()
    const noName = new PushEndpointRequests({
      allowed: new AllowedHosts([]),
      network: { resolve: () => new Promise<string[]>(() => undefined) },
    })
    const [hung, unnamed] = await Promise.allSettled([
      requests.post(service.url('/hangs', 'push.test'), message, never),
      noName.post('https://push.example.org/', message, never),
    ])
    expect(performance.now() - began).toBeGreaterThan(9000)
    for (const each of [hung, unnamed]) {
      expect(each).toMatchObject({ status: 'rejected', reason: { message: 'no answer in time' } })
    }
  }, 120_000)

  test('fails if the name does not exist, or the server speaks no TLS or no HTTP', async () => {
    const { requests } = world([])
    expect(String(await failureOf(requests.post('https://push.example.org/', message, never)))).toContain(
      'no address',
    )
    const plain = createServer((socket) => socket.end('220 mail.example ESMTP\r\n'))
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    const address = plain.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const excepted = world([['127.0.0.1']], ['push.test']).requests
    expect(await failureOf(excepted.post(`https://push.test:${port}/`, message, never))).toBeInstanceOf(
      EndpointUnreachable,
    )
    plain.close()
  })

  test('ends at once when its signal is aborted', async () => {
    service.on('/cut', () => undefined)
    const { requests } = world([['127.0.0.1']], ['push.test'])
    const cut = new AbortController()
    const posted = requests.post(service.url('/cut', 'push.test'), message, cut.signal)
    await service.until('/cut')
    cut.abort()
    expect(await failureOf(posted)).toBeInstanceOf(EndpointUnreachable)
    expect(
      await failureOf(requests.post(service.url('/cut', 'push.test'), message, cut.signal)),
    ).toBeInstanceOf(EndpointUnreachable)
  })
})
