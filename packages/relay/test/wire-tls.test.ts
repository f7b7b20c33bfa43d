// TLS with the operator's own files: what is served, and how a certificate is replaced while people talk.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { once } from 'node:events'
import { mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { type Certified, certify } from './certificate.ts'
import { openPlainDoor, type PlainDoor } from './plain-door.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { startTalk } from './talk.ts'
import { untilLogged } from './until-logged.ts'
import { errorLines } from './use-relay.ts'
import { wireAccount, wireFriends } from './wire.ts'

setDefaultTimeout(240_000)
const HOST = 'relay.example'
let folder = ''
let relay: RelayProcess
let door: PlainDoor
const trusted: string[] = []
const file = (name: string): string => join(folder, name)
const settings = (): Record<string, string> => ({
  ...{ PUBLIC_URL: `https://${HOST}`, TLS_CERT: file('cert.pem'), TLS_KEY: file('key.pem') },
  LOG_LEVEL: 'info',
})

// As tools that renew certificates do: the files appear at once.
async function put({ cert, key, authority }: Certified): Promise<void> {
  trusted.push(authority)
  for (const [name, text] of Object.entries({ 'key.pem': key, 'cert.pem': cert })) {
    await Bun.write(file(`${name}.new`), text)
    await rename(file(`${name}.new`), file(name))
  }
}

const port = (): number => Number(new URL(relay.url).port)

/** The name of the authority's key whose certificate a new connection gets; it must be one of the trusted. */
function servedTo(
  options: { minVersion?: 'TLSv1.1'; maxVersion?: 'TLSv1.1' | 'TLSv1.2' } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: port(), host: '127.0.0.1', servername: HOST, ca: trusted, ...options })
    socket.once('secureConnect', () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? '')
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-tls-'))
  await put(certify([HOST]))
  relay = await startRelay({ env: settings() })
  door = await openPlainDoor({ port: port(), host: HOST, authorities: () => trusted })
})
afterAll(async () => {
  door?.close()
  await relay?.stop()
  await rm(folder, { recursive: true, force: true })
})

test('the port speaks TLS 1.2 and later, tells browsers to stay with it, and no plain HTTP', async () => {
  expect(relay.url).toBe(`https://127.0.0.1:${port()}`)
  await servedTo({ maxVersion: 'TLSv1.2' })
  const older = await servedTo({ minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' }).catch(() => 'refused')
  expect(older).toBe('refused')
  const health = await fetch(`${door.url}/health`)
  expect(health.status).toBe(200)
  expect(health.headers.get('strict-transport-security')).toBe('max-age=31536000')
  const plain = await fetch(`http://127.0.0.1:${port()}/health`).then(
    ({ status }) => status,
    () => 'cut',
  )
  expect(plain).not.toBe(200)
})

test('a replaced certificate is served at once, and no connection or message is lost meanwhile', async () => {
  const { alice, bob, conv } = await wireFriends(door.url)
  const [a, b] = [(await alice.online()).socket, (await bob.online()).socket]
  const made = await alice.post('/channels', { name: 'news', is_public: true })
  const channel: string = made.body.channel_id
  await bob.bare('POST', `/channels/${channel}/subscribe`)
  const failedBefore = door.failures.length

  let isOver = false
  const handshakes: string[] = []
  const arrive = async (): Promise<void> => {
    while (!isOver) handshakes.push(await servedTo())
  }
  const endTalk = startTalk({ account: alice, socket: a }, { account: bob, socket: b }, conv)
  const arrivals = Promise.all([arrive(), arrive(), arrive()])
  const first = await servedTo()
  try {
    for (const times of [1, 2]) {
      await put(certify([HOST]))
      await untilLogged(relay, 'certificate_replaced', { times })
      const [now, ...others] = await Promise.all(Array.from({ length: 20 }, () => servedTo()))
      expect(others.every((other) => other === now)).toBe(true)
      expect(now).not.toBe(first)
    }
  } finally {
    isOver = true
    await Promise.all([endTalk(), arrivals])
  }
  expect(new Set(handshakes).size).toBe(3)

  // Bob's socket belongs to the first server, and that of a newcomer to the third.
  const newcomer = await wireAccount(door.url)
  await newcomer.bare('POST', `/channels/${channel}/subscribe`)
  const { socket: c } = await newcomer.online()
  await alice.post(`/channels/${channel}/posts`, { content: 'to all' })
  const post = { content: 'to all' }
  expect(await b.next('channel_post')).toMatchObject(post)
  expect(await c.next('channel_post')).toMatchObject(post)

  expect(door.failures.slice(failedBefore)).toEqual([])
  await Promise.all([a.close(), b.close(), c.close()])
  expect(errorLines(relay.errors())).toEqual([])
})

test('on the connections of a former certificate, errors are the last answers, too', async () => {
  const socket = connect({ port: port(), host: '127.0.0.1', servername: HOST, ca: trusted })
  await once(socket, 'secureConnect')
  const ask = async (): Promise<string> => {
    socket.write(`GET /nowhere HTTP/1.1\r\nhost: ${HOST}\r\n\r\n`)
    const [answer] = await once(socket, 'data')
    return String(answer)
  }
  expect(await ask()).not.toMatch(/^connection: close\r$/im)
  const times = relay.errors().split('certificate_replaced').length
  await put(certify([HOST]))
  await untilLogged(relay, 'certificate_replaced', { times })
  const last = await ask()
  expect(last).toStartWith('HTTP/1.1 404')
  expect(last).toMatch(/^connection: close\r$/im)
  socket.destroy()
})

test('files that cannot be served are refused with the reason, and the former certificate stays', async () => {
  const before = await servedTo()
  await put(certify(['other.example']))
  await untilLogged(relay, 'certificate_refused')
  expect(relay.errors()).toContain(`it is not for ${HOST}, but for DNS:other.example`)
  await Bun.write(file('cert.pem'), 'nothing')
  await untilLogged(relay, 'certificate_refused', { times: 2 })
  expect(relay.errors()).toContain('there is no certificate in PEM')
  await Bun.write(file('cert.pem'), certify([HOST]).cert)
  await untilLogged(relay, 'certificate_refused', { times: 3 })
  expect(relay.errors()).toContain('the key is that of another one')
  await symlink('cert.pem', file('cert.pem.new')) // A link to itself, which cannot even be looked at.
  await rename(file('cert.pem.new'), file('cert.pem'))
  await untilLogged(relay, 'certificate_refused', { times: 4 })
  expect(relay.errors()).toContain('ELOOP')
  expect(await servedTo()).toBe(before)
  await put(certify([HOST]))
  await untilLogged(relay, 'certificate_replaced', { times: 4 })
  expect(await servedTo()).not.toBe(before)
})
