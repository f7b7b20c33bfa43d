// The floor of `login`, `idle` and `backlog`: the same runtime answers the same requests with texts as long
// as a relay's. It verifies one signature for each login, compares one ticket for each WebSocket, and sends a
// backlog from memory. It stores nothing, validates no field and counts no rate. The difference between a
// relay and this floor is the cost of the relay's promises.
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { Server, ServerWebSocket } from 'bun'

/** How many messages each connection is sent, and the text of each message as a relay sends it. */
const WAITING = Number(process.env.WAITING ?? 0)
const FRAME = JSON.stringify({
  ...{ type: 'msg', id: 'm100000', to: 'u10000000', conv_id: crypto.randomUUID(), crypto_v: 1 },
  ...{ payload: 'A'.repeat(400), from: 'u20000000', seq: 100_000, at: Date.now() },
})
const SYNC_END = JSON.stringify({ type: 'sync_end', count: WAITING })
const AHEAD_BYTES = 256 * 1024

/** The same lengths as a relay's. */
const [CHALLENGE_BYTES, TOKEN_BYTES, TICKET_BYTES] = [83, 227, 24]
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

interface Account {
  readonly key: KeyObject
  challenge: string
  token: string
}

interface Seat {
  left: number
}

const accounts = new Map<string, Account>()
const uuidsByToken = new Map<string, string>()
const uuidsByTicket = new Map<string, string>()

function randomText(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('base64url')
}

function accountOf(uuid: string): Account {
  const account = accounts.get(uuid)
  if (!account) throw new Error('the load asked for an account it has not made')
  return account
}

function sendWaiting(socket: ServerWebSocket<Seat>): void {
  while (socket.data.left > 0 && socket.getBufferedAmount() < AHEAD_BYTES) {
    socket.data.left -= 1
    socket.sendText(FRAME)
    if (socket.data.left === 0) socket.sendText(SYNC_END)
  }
}

const server = Bun.serve<Seat>({
  port: 0,
  hostname: '127.0.0.1',
  routes: {
    '/api/v1/pow/challenge': {
      POST: () => Response.json({ challenge_string: randomText(CHALLENGE_BYTES), difficulty: 0 }),
    },
    '/api/v1/register': {
      POST: async (request: Request) => {
        const { ed25519_public_key: key } = await request.json()
        const der = Buffer.concat([SPKI_PREFIX, Buffer.from(key, 'base64')])
        const uuid = crypto.randomUUID()
        accounts.set(uuid, {
          key: createPublicKey({ key: der, format: 'der', type: 'spki' }),
          challenge: '',
          token: '',
        })
        return Response.json({ uuid, alias_id: `u1${String(accounts.size).padStart(9, '0')}` })
      },
    },
    '/api/v1/auth/challenge': {
      POST: async (request: Request) => {
        const { user_uuid } = await request.json()
        const challenge = randomText(CHALLENGE_BYTES)
        accountOf(user_uuid).challenge = challenge
        return Response.json({ challenge })
      },
    },
    '/api/v1/auth/verify': {
      POST: async (request: Request) => {
        const { user_uuid, challenge, signature } = await request.json()
        const account = accountOf(user_uuid)
        const isSigned = verify(null, Buffer.from(challenge), account.key, Buffer.from(signature, 'base64'))
        if (!isSigned || challenge !== account.challenge) return new Response(null, { status: 401 })
        uuidsByToken.delete(account.token)
        account.token = randomText(TOKEN_BYTES)
        uuidsByToken.set(account.token, user_uuid)
        return Response.json({ token: account.token, expires_in: 86_400 })
      },
    },
    '/api/v1/ws/ticket': {
      POST: (request: Request) => {
        const uuid = uuidsByToken.get(request.headers.get('authorization')?.slice('Bearer '.length) ?? '')
        if (!uuid) return new Response(null, { status: 401 })
        const ticket = randomText(TICKET_BYTES)
        uuidsByTicket.set(ticket, uuid)
        return Response.json({ ticket, expires_in: 30 })
      },
    },
    '/ws': (request: Request, self: Server<Seat>) => {
      const { searchParams } = new URL(request.url)
      const [uuid, ticket] = [searchParams.get('user_uuid'), searchParams.get('ticket') ?? '']
      const token = searchParams.get('token') ?? ''
      const owner = ticket ? uuidsByTicket.get(ticket) : uuidsByToken.get(token)
      uuidsByTicket.delete(ticket)
      if (!uuid || owner !== uuid) return new Response(null, { status: 401 })
      return self.upgrade(request, { data: { left: WAITING } })
        ? undefined
        : new Response(null, { status: 426 })
    },
  },
  websocket: {
    perMessageDeflate: false,
    idleTimeout: 900,
    open: (socket) => {
      if (WAITING === 0) socket.sendText(SYNC_END)
      sendWaiting(socket)
    },
    drain: sendWaiting,
    message: () => undefined,
  },
})

process.stdout.write(`listens on http://127.0.0.1:${server.port}\n`)
process.once('SIGTERM', () => process.exit(0))
