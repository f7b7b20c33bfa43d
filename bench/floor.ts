// The floor of `relay`: the same runtime makes the same exchange, without accounts, checks, storage or
// promises. The difference between a relay and this floor is the cost of the relay's promises.
import type { ServerWebSocket } from 'bun'

interface Seat {
  readonly name: string
}

const seats = new Map<string, ServerWebSocket<Seat>>()
const counters = new Map<string, number>()

const server = Bun.serve<Seat>({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request, self) => {
    const name = new URL(request.url).searchParams.get('user_uuid') ?? ''
    return self.upgrade(request, { data: { name } })
      ? undefined
      : new Response('WebSocket only', { status: 426 })
  },
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
      }
    },
  },
})

process.stdout.write(`listens on http://127.0.0.1:${server.port}\n`)
process.once('SIGTERM', () => process.exit(0))
