// Nodes on one PostgreSQL for the parts with very many connections. Each node stands for a machine: it has as
// many processes as its connections need, because one process may have only so many descriptors.
import { readDescriptorLimit } from '../../packages/relay/src/operations/descriptors.ts'
import { startOwnPostgres } from '../../packages/relay/test/postgres-server.ts'
import { type RelayProcess, startRelay } from '../../packages/relay/test/relay-process.ts'
import { cpuMs, residentKib, treeCpuMs } from '../measure.ts'
import { postmasterOf } from './nodes.ts'

/** The share of its descriptors that a process uses for connections. */
const USED_SHARE = 0.8

/** Several processes of the relay on one machine. */
export interface Machine {
  readonly processes: readonly RelayProcess[]
  readonly urls: readonly string[]
  cpuMs(): number
  residentKib(): number
}

/** A PostgreSQL, and the machines that share it once they are started. */
export interface Machines extends AsyncDisposable {
  readonly databaseUrl: string
  start(): Promise<Machine[]>
  /** CPU time of all processes of PostgreSQL, also of those that have ended. */
  databaseCpuMs(): number
}

/** How many processes of this machine can hold so many connections. */
export function processesFor(connections: number): number {
  return Math.ceil(connections / (readDescriptorLimit() * USED_SHARE))
}

/**
 * Starts a PostgreSQL. The relays have their default rates, and take the address of each client from the
 * header that a proxy sets: otherwise all clients of the load would share the rates of one address.
 */
export async function preparePostgres(count: number, processesEach: number): Promise<Machines> {
  const server = await startOwnPostgres()
  const databaseUrl = await server.createDatabase()
  const postmaster = await postmasterOf(databaseUrl)
  const env = { DATABASE_URL: databaseUrl, TRUST_PROXY: '1', RATE_LIMITS: 'on' }
  const all: RelayProcess[] = []
  const startMachine = async (): Promise<Machine> => {
    const processes: RelayProcess[] = []
    for (let n = 0; n < processesEach; n++) processes.push(await startRelay({ env }))
    all.push(...processes)
    const sum = (of: (pid: number) => number): number =>
      processes.reduce((total, { pid }) => total + of(pid), 0)
    return {
      processes,
      urls: processes.map(({ url }) => url),
      cpuMs: () => sum(cpuMs),
      residentKib: () => sum(residentKib),
    }
  }
  return {
    databaseUrl,
    start: async () => {
      const machines: Machine[] = []
      for (let n = 0; n < count; n++) machines.push(await startMachine())
      return machines
    },
    databaseCpuMs: () => treeCpuMs(postmaster),
    [Symbol.asyncDispose]: async () => {
      for (const { stop } of all) await stop()
      await server.stop()
    },
  }
}
