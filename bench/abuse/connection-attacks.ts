// Attacks through connections of one address: more than the relay has descriptors, all of which stay open
// without a whole request.
import type { Socket } from 'node:net'
import type { Attack } from './attack.ts'
import type { Attacker } from './attacker.ts'

/** What a connection sends after it is open. */
const KINDS = {
  idle: 'GET /health HTTP/1.1\r\nhost: a\r\nconnection: keep-alive\r\n\r\n',
  silent: '',
  'half-sent': 'GET /health HTTP/1.1\r\nhost: a\r\nx-more: ',
  'half-body': 'POST /api/v1/auth/challenge HTTP/1.1\r\nhost: a\r\ncontent-length: 99\r\n\r\n{',
}
const DESCRIPTORS = 700
const CONNECTIONS = 900
/** How many of those that the relay closed are opened again at a time. */
const AGAIN = 50
const AGAIN_AFTER_MS = 30

export const connectionAttacks = Object.entries(KINDS).map(
  ([kind, bytes]): Attack => ({
    name: `connections-${kind}`,
    descriptors: DESCRIPTORS,
    run: (attacker) => holdConnections(attacker, bytes),
  }),
)

async function holdConnections(attacker: Attacker, bytes: string): Promise<void> {
  const sockets = new Set<Socket>()
  const open = (count: number): void => {
    for (let n = 0; n < count; n++) {
      const socket = attacker.raw([bytes])
      sockets.add(socket)
      socket.on('data', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    }
  }
  for (open(CONNECTIONS); !attacker.isOver; await Bun.sleep(AGAIN_AFTER_MS))
    open(Math.min(AGAIN, CONNECTIONS - sockets.size))
  for (const socket of sockets) socket.destroy()
}
