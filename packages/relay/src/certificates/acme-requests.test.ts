// Signed requests to a server that answers what pebble never does.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { certify } from '../../test/certificate.ts'
import { AcmeError, AcmeRequests } from './acme-requests.ts'

const own = certify(['127.0.0.1'])
let problem: object = {}
let posts = 0
let server: ReturnType<typeof Bun.serve>

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert: own.cert, key: own.key },
    fetch: ({ method, url }) => {
      const headers = { 'replay-nonce': 'a-nonce' }
      if (method === 'HEAD') return new Response(null, { headers })
      const at = (path: string): string => new URL(path, url).href
      if (method === 'GET')
        return Response.json({
          newNonce: at('/nonce'),
          newAccount: at('/account'),
          newOrder: at('/order'),
        })
      posts += 1
      return Response.json(problem, { status: 400, headers })
    },
  })
})
afterAll(() => server.stop(true))

/** What a request says that is answered with this problem document. */
async function refusal(answered: object): Promise<AcmeError> {
  problem = answered
  posts = 0
  const requests = await AcmeRequests.open({
    directory: `https://127.0.0.1:${server.port}/`,
    ca: own.authority,
    accountKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    signal: new AbortController().signal,
  })
  const ended = await requests.openAccount(undefined).catch((error) => error)
  if (!(ended instanceof AcmeError)) throw ended
  return ended
}

test('a refusal is quoted, but only so much of it', async () => {
  const said = await refusal({ type: 'urn:x:'.padEnd(5000, 't'), detail: 'd'.repeat(5000) })
  expect(said.message).toContain(`${'d'.repeat(300)}`)
  expect(said.message.length).toBeLessThan(700)
})

test('only the type tells that a nonce was refused, after which a request is repeated', async () => {
  await refusal({ type: 'urn:ietf:params:acme:error:malformed', detail: 'this is no :badNonce at all' })
  expect(posts).toBe(1)
  await refusal({ type: 'urn:ietf:params:acme:error:badNonce', detail: '' })
  expect(posts).toBeGreaterThan(1)
})
