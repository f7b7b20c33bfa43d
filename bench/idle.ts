// `npm run bench -- idle`: the memory of an authenticated idle connection. The floor is the runtime's bare
// WebSocket.
import type { Bench } from './bench.ts'
import { inParallel, makeAccounts } from './load/accounts.ts'
import { connect } from './load/pairs.ts'
import type { RawSocket } from './load/raw-socket.ts'
import { ratio, residentKib } from './measure.ts'
import { type MeasuredServer, startLoginFloor, startMeasuredRelay } from './server-process.ts'

const CONNECTIONS = 9000
const SETTLE_MS = 20_000
const BEFORE_MS = 5000

interface Memory {
  readonly atOnceKib: number
  readonly settledKib: number
}

export const idle: Bench = {
  means: 'memory of an authenticated idle connection, against a bare WebSocket',
  run: async () => {
    const relay = await measure(await startMeasuredRelay())
    const floor = await measure(await startLoginFloor())
    const row = (server: string, of: Memory) => ({
      server,
      'settled, this to floor': ratio(of.settledKib / floor.settledKib),
      'KiB a connection at once': ratio(of.atOnceKib),
      [`${SETTLE_MS / 1000} s later`]: ratio(of.settledKib),
    })
    return { settings: { connections: CONNECTIONS }, rows: [row('relay', relay), row('floor', floor)] }
  },
}

async function measure(server: MeasuredServer): Promise<Memory> {
  const accounts = await makeAccounts(server.url, CONNECTIONS)
  await Bun.sleep(BEFORE_MS)
  const before = residentKib(server.pid)
  const sockets: RawSocket[] = []
  await inParallel(accounts, 50, async (account) => {
    sockets.push(await connect(account))
  })
  const each = (): number => (residentKib(server.pid) - before) / CONNECTIONS
  const atOnceKib = each()
  await Bun.sleep(SETTLE_MS)
  const settledKib = each()
  for (const socket of sockets) socket.close()
  await server.stop()
  return { atOnceKib, settledKib }
}
