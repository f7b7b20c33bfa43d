// A relay of several processes on one port: this one starts them, and answers for all of them.
import * as v from 'valibot'
import type { Config } from './config.ts'
import { startMetricsPort } from './listener/metrics-port.ts'
import { type OperatorCommand, OperatorRefusal } from './listener/operator-command.ts'
import { operatorSocketOf, sendOperatorCommand, startOperatorSocket } from './listener/operator-socket.ts'
import { systemClock as clock } from './operations/clock.ts'
import type { Log } from './operations/log.ts'
import { operatorAnswers } from './operator-commands.ts'
import { explain, StartError } from './start-error.ts'
import { runningBy, type Succession } from './succession/succession.ts'
import { mergedMetrics, WorkerNotStarted, Workers } from './workers/workers.ts'

interface Parts {
  readonly config: Config
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The program and the arguments that start a worker. */
  readonly command: readonly string[]
  readonly print: (line: string) => void
  readonly log: Log
  /** Resolves with the reason when the relay is to stop. */
  readonly stopped: Promise<string>
  readonly stopSeconds: number
  readonly succession: Succession
}

/**
 * Runs the workers until the relay is to stop, or to make room for a new version.
 * @throws StartError if they cannot start and the operator can fix the cause
 */
export async function serveWorkers(parts: Parts): Promise<void> {
  const { config, log, succession } = parts
  await using opened = new AsyncDisposableStack()
  const failed = (error: unknown): never => {
    throw error instanceof WorkerNotStarted ? new StartError(error.message) : explain(error, config)
  }
  const workers = startable(parts)
  opened.defer(() => workers.stop())
  const socketOf = (worker: number): string => operatorSocketOf(config.dataDir, worker)
  try {
    if (config.metrics) {
      const port = startMetricsPort(config.metrics, { text: () => metricsOf(workers, socketOf) })
      opened.defer(() => port.stop())
    }
    void parts.stopped.then(() => workers.stop())
    const lines = await workers.start()
    if (!lines) return // It is to stop already.
    const socket = await startOperatorSocket({
      path: operatorSocketOf(config.dataDir),
      commands: {
        ...forwarded(workers, socketOf),
        ...succession.commands(() => readinessOf(workers, socketOf)),
      },
      log,
    })
    opened.defer(() => socket.stop())
    for (const line of [...lines.slice(0, 1), `Workers: ${config.workers}`, ...lines.slice(1)])
      parts.print(line)
  } catch (error) {
    failed(error)
  }
  log.info('stopping', { reason: await Promise.race([parts.stopped, succession.handedOver]) })
  await workers.stop()
}

function startable({ config, environment, command, log, stopSeconds }: Parts): Workers {
  return new Workers({
    ...{ command, log, clock, stopSeconds, count: config.workers },
    environment: { ...environment, PORT: String(freePortOf(config)) },
    writeLine: (line) => void process.stderr.write(`${line}\n`),
  })
}

/** The port that the workers share. Another program must not share it, so it is taken alone first. */
function freePortOf(config: Config): number {
  try {
    const { host: hostname, port } = config
    const alone = Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response() })
    void alone.stop(true)
    return alone.port ?? port
  } catch (error) {
    throw explain(error, config)
  }
}

type SocketOf = (worker: number) => string

/** The commands, each carried out by the first worker that serves: what they change is in the store. */
function forwarded(workers: Workers, socketOf: SocketOf): Readonly<Record<string, OperatorCommand>> {
  const commandOf =
    (name: string): OperatorCommand =>
    async (input) => {
      for (const worker of workers.ready) {
        const reply = await sendOperatorCommand(socketOf(worker), name, input as object)
        if (reply) return reply.answer
      }
      throw new OperatorRefusal('no worker of the relay is ready; try again')
    }
  const commands = Object.keys(operatorAnswers).map((name) => [name, commandOf(name)] as const)
  return { ...Object.fromEntries(commands), 'admin.close': () => closeAdminPages(workers, socketOf) }
}

// The page lives in the worker that opened it, which is not always the first one.
async function closeAdminPages(workers: Workers, socketOf: SocketOf): Promise<unknown> {
  const replies = await Promise.all(
    workers.ready.map((worker) => sendOperatorCommand(socketOf(worker), 'admin.close', {})),
  )
  const answers = replies.map((reply) =>
    v.parse(operatorAnswers['admin.close'], reply?.answer ?? { was_open: false }),
  )
  return { was_open: answers.some(({ was_open }) => was_open) }
}

async function readinessOf(workers: Workers, socketOf: SocketOf) {
  const asked = workers.ready.map((worker) => runningBy(socketOf(worker)))
  const answers = await Promise.all(asked.map((answer) => answer.catch(() => undefined)))
  return { ready: workers.areAllReady && answers.every((answer) => answer?.ready), parts: {} }
}

/** What is measured of those that answer. */
async function metricsOf(workers: Workers, socketOf: SocketOf): Promise<string> {
  const texts = new Map<number, string>()
  const ask = async (worker: number): Promise<void> => {
    const reply = await sendOperatorCommand(socketOf(worker), 'metrics', {}).catch(() => undefined)
    if (typeof reply?.answer === 'string') texts.set(worker, reply.answer)
  }
  await Promise.all(workers.ready.map(ask))
  return mergedMetrics(new Map([...texts].sort(([a], [b]) => a - b)))
}
