// The floor of `relay` and `abuse`: the same runtime makes the same exchange, without accounts, checks,
// storage or promises. It reads the body of any other request, writes uploads to a file, and answers with as
// many bytes as the request asks for. The difference between a relay and this floor is the cost of the
// relay's promises.
import { open, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServerWebSocket } from 'bun'

interface Seat {
  readonly name: string
}

const seats = new Map<string, ServerWebSocket<Seat>>()
const counters = new Map<string, number>()
const folder = process.env.DATA_DIR ?? '.'
/** Longer answers come from a file, as a relay's downloads do. */
const MOST_FROM_MEMORY = 4 * 1024 * 1024
const answers = new Map<number, string>()
let files = 0

async function answer(request: Request): Promise<Response> {
  const isUpload = request.headers.get('content-type') === 'application/octet-stream'
  if (isUpload) await store(request)
  else await request.bytes()
  return await answerOf(Number(request.headers.get('floor-bytes') ?? 2))
}

async function store(request: Request): Promise<void> {
  files += 1
  const handle = await open(join(folder, `upload-${files}`), 'w')
  try {
    for await (const piece of request.body ?? []) await handle.write(piece)
  } finally {
    await handle.close()
  }
}

async function answerOf(bytes: number): Promise<Response> {
  if (bytes <= MOST_FROM_MEMORY) {
    const text = answers.get(bytes) ?? '{}'.padEnd(bytes)
    answers.set(bytes, text)
    return new Response(text, { headers: { 'content-type': 'application/json' } })
  }
  const file = join(folder, `answer-${bytes}`)
  if (!(await Bun.file(file).exists())) {
    await Bun.write(file, '')
    await truncate(file, bytes)
  }
  return new Response(Bun.file(file))
}

const server = Bun.serve<Seat>({
  port: 0,
  hostname: '127.0.0.1',
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  fetch: (request, self) => {
    if (!request.headers.has('upgrade')) return answer(request)
    const name = new URL(request.url).searchParams.get('user_uuid') ?? ''
    return self.upgrade(request, { data: { name } })
      ? undefined
      : new Response('not a WebSocket', { status: 426 })
  },
  // A client that cut off its request needs no answer.
  error: () => new Response(null, { status: 400 }),
  websocket: {
    perMessageDeflate: false,
    open: (socket) => {
      seats.set(socket.data.name, socket)
    },
    message: (socket, text) => {
      const frame = JSON.parse(String(text))
      const from = socket.data.name
      if (frame.type === 'msg') {
        const seq = (counters.get(frame.conv_id) ?? 0) + 1
        counters.set(frame.conv_id, seq)
        const at = Date.now()
        socket.sendText(JSON.stringify({ type: 'ack', id: frame.id, conv_id: frame.conv_id, seq, at }))
        seats.get(frame.to)?.sendText(JSON.stringify({ ...frame, from, seq, at }))
      } else if (frame.type === 'delivered') {
        seats.get(frame.to)?.sendText(JSON.stringify({ ...frame, from }))
      } else if (frame.type === 'call_ice') {
        seats.get(frame.to)?.sendText(String(text))
      }
    },
  },
})

process.stdout.write(`listens on http://127.0.0.1:${server.port}\n`)
process.once('SIGTERM', () => process.exit(0))
