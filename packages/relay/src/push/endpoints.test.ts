// Endpoints are an attacker's to choose: what they may name, and what they can make the relay do.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { answer, type PushEndpoint, startPushEndpoint } from '../../test/push-endpoint.ts'
import { EndpointRefused, Endpoints, EndpointUnreachable } from './endpoints.ts'
import { AllowedHosts } from './public-addresses.ts'

const never = new AbortController().signal
const message = { headers: { ttl: '1' }, body: new Uint8Array([1, 2, 3]) }
let service: PushEndpoint

beforeAll(async () => {
  service = await startPushEndpoint()
})
afterAll(() => service.stop())

/** Endpoints whose hosts resolve to what is told, the first time and later. */
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
  return { asked, endpoints: new Endpoints({ allowed: new AllowedHosts(allowed), network }) }
}

describe('an endpoint may be', () => {
  const { endpoints } = world([])
  test.each([
    'https://fcm.googleapis.com/fcm/send/abc:APA91b',
    'https://updates.push.services.mozilla.com/wpush/v2/gAAA',
    'https://wns2-par02p.notify.windows.com/w/?token=BQYAAAD%2f',
    'https://web.push.apple.com/QGuQyavXutnMH',
    'https://push.example.org:8443/x',
    'https://push.example.org:1024/x',
    'https://1.1.1.1/x',
    'https://[2606:4700:4700::1111]/x',
  ])('%s', (url) => expect(endpoints.parse(url).protocol).toBe('https:'))
})

describe('an endpoint may not be', () => {
  const { endpoints } = world([], ['gateway.internal', '10.9.0.0/16'])
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
  ])('"%s"', (url) => expect(() => endpoints.parse(url)).toThrow(EndpointRefused))

  test.each(['https://gateway.internal:22/', 'https://10.9.1.1:22/x'])(
    'unless the operator excepts it: %s',
    (url) => expect(endpoints.parse(url).port).toBe('22'),
  )
})

describe('a post', () => {
  test('goes to the address that was checked, with the host’s name for it, and reads no body', async () => {
    service.on('/long', (response) => {
      response.writeHead(201)
      const more = (): void => {
        if (!response.destroyed) response.write('x'.repeat(65_536), more)
      }
      more()
    })
    const { endpoints, asked } = world([['127.0.0.1']], ['push.test'])
    expect(await endpoints.post(service.url('/long', 'push.test'), message, never)).toEqual({
      status: 201,
      retryAfter: null,
    })
    const [push] = service.at('/long')
    expect(push?.headers.host).toBe(`push.test:${service.port}`)
    expect(push?.method).toBe('POST')
    expect([...(push?.body ?? [])]).toEqual([1, 2, 3])
    expect(asked).toEqual(['push.test'])
  })

  test('goes to an address that is the host itself, with a certificate for it', async () => {
    const { endpoints, asked } = world([], ['127.0.0.1'])
    expect((await endpoints.post(service.url('/bare', '127.0.0.1'), message, never)).status).toBe(201)
    expect(asked).toEqual([])
    expect(service.at('/bare')[0]?.headers.host).toBe(`127.0.0.1:${service.port}`)
  })

  test('tries the next address where one does not answer', async () => {
    const { endpoints } = world([['127.0.0.2', '127.0.0.1']], ['push.test'])
    expect((await endpoints.post(service.url('/next', 'push.test'), message, never)).status).toBe(201)
  })

  test('goes nowhere where the certificate is not the host’s, or nobody’s we know', async () => {
    const other = world([['127.0.0.1']], ['other.test']).endpoints
    await expect(other.post(service.url('/cert', 'other.test'), message, never)).rejects.toThrow(
      EndpointUnreachable,
    )
    const allowed = new AllowedHosts(['push.test'])
    const strange = new Endpoints({ allowed, network: { resolve: async () => ['127.0.0.1'] } })
    await expect(strange.post(service.url('/cert', 'push.test'), message, never)).rejects.toThrow(
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
  ])('goes nowhere where the name leads inside: %p', async (addresses) => {
    const { endpoints } = world([addresses])
    await expect(endpoints.post(service.url('/inside', 'push.test'), message, never)).rejects.toThrow(
      EndpointRefused,
    )
    expect(service.at('/inside')).toEqual([])
  })

  test('is not led inside by a name that changes its mind between check and connection', async () => {
    // Nobody listens at 127.0.0.9, which never leaves this machine: excepted, to stand for a public address.
    const { endpoints, asked } = world([['127.0.0.9'], ['127.0.0.1']], ['127.0.0.9'])
    const ending = AbortSignal.timeout(1500)
    await expect(endpoints.post(service.url('/rebound', 'push.test'), message, ending)).rejects.toThrow(
      EndpointUnreachable,
    )
    expect(asked).toEqual(['push.test'])
    expect(service.at('/rebound')).toEqual([])
    // The second time it does lead inside, and that is seen.
    await expect(endpoints.post(service.url('/rebound', 'push.test'), message, never)).rejects.toThrow(
      EndpointRefused,
    )
    expect(service.at('/rebound')).toEqual([])
  })

  test('asks the address that was checked, whatever the system would make of the name', async () => {
    const { endpoints } = world([['127.0.0.9']], ['localhost'])
    const ending = AbortSignal.timeout(1500)
    await expect(endpoints.post(service.url('/by-name', 'localhost'), message, ending)).rejects.toThrow(
      EndpointUnreachable,
    )
    expect(service.at('/by-name')).toEqual([])
    // By its name the service is there: this is what was not done.
    const tls = { ca: service.authority }
    expect((await fetch(service.url('/by-name', 'localhost'), { method: 'POST', tls })).status).toBe(201)
  })

  test('follows no redirect', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      service.on(`/from/${status}`, answer(status, { location: service.url('/led', '127.0.0.1') }))
      const { endpoints } = world([['127.0.0.1']], ['push.test'])
      const answered = await endpoints.post(service.url(`/from/${status}`, 'push.test'), message, never)
      expect(answered.status).toBe(status)
    }
    expect(service.at('/led')).toEqual([])
  })

  test('ends by itself where nothing answers, whether the name, the connection or the service', async () => {
    service.on('/hangs', () => undefined)
    const { endpoints } = world([['127.0.0.1']], ['push.test'])
    const began = performance.now()
    const noName = new Endpoints({
      allowed: new AllowedHosts([]),
      network: { resolve: () => new Promise<string[]>(() => undefined) },
    })
    const [hung, unnamed] = await Promise.allSettled([
      endpoints.post(service.url('/hangs', 'push.test'), message, never),
      noName.post('https://push.example.org/', message, never),
    ])
    expect(performance.now() - began).toBeWithin(9000, 20_000)
    for (const each of [hung, unnamed]) {
      expect(each).toMatchObject({ status: 'rejected', reason: { message: 'no answer in time' } })
    }
  }, 30_000)

  test('fails where there is no such name, no TLS, or no HTTP', async () => {
    const { endpoints } = world([])
    await expect(endpoints.post('https://push.example.org/', message, never)).rejects.toThrow('no address')
    const plain = createServer((socket) => socket.end('220 mail.example ESMTP\r\n'))
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    const address = plain.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const excepted = world([['127.0.0.1']], ['push.test']).endpoints
    await expect(excepted.post(`https://push.test:${port}/`, message, never)).rejects.toThrow(
      EndpointUnreachable,
    )
    plain.close()
  })

  test('ends at once when it is told to', async () => {
    service.on('/cut', () => undefined)
    const { endpoints } = world([['127.0.0.1']], ['push.test'])
    const cut = new AbortController()
    const posted = endpoints.post(service.url('/cut', 'push.test'), message, cut.signal)
    await service.until('/cut')
    cut.abort()
    await expect(posted).rejects.toThrow(EndpointUnreachable)
    await expect(endpoints.post(service.url('/cut', 'push.test'), message, cut.signal)).rejects.toThrow(
      EndpointUnreachable,
    )
  })
})
