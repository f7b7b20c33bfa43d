// The floor of `fanout`: the same runtime publishes to all connections, and stores and checks nothing.
// As long as the relay's frame for a post of 400 bytes, which contains the post twice.
const FRAME = 'x'.repeat(1100)

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request, self) => {
    if (new URL(request.url).pathname === '/post') {
      self.publish('channel', FRAME)
      return new Response('posted')
    }
    return self.upgrade(request) ? undefined : new Response('no', { status: 426 })
  },
  websocket: {
    perMessageDeflate: false,
    idleTimeout: 900,
    open: (socket) => {
      socket.subscribe('channel')
    },
    message: () => undefined,
  },
})
console.log(`the floor listens on http://127.0.0.1:${server.port}`)
process.on('SIGTERM', () => process.exit(0))
