// One process of a worker, from its start to its end.
import * as v from 'valibot'
import { WORKER, WorkerMessage } from './worker-messages.ts'

/** How workers are started. */
export interface WorkerCommand {
  /** The program and its arguments. */
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Takes the lines that workers write to standard error, each whole. */
  readonly writeLine: (line: string) => void
}

/** A process. */
export interface WorkerProcess {
  readonly number: number
  readonly isReady: boolean
  /** Resolves once it serves, with its lines for the terminal; with undefined if it ends before. */
  readonly ready: Promise<readonly string[] | undefined>
  /** Resolves when it has ended, and everything that it wrote is written: why. */
  readonly ended: Promise<string>
  kill(signal: NodeJS.Signals): void
}

export function startWorker(number: number, parts: WorkerCommand): WorkerProcess {
  const { promise: ready, resolve } = Promise.withResolvers<readonly string[] | undefined>()
  let isReady = false
  let refusal: string | undefined
  const child = Bun.spawn([...parts.command], {
    // The person at the terminal knows the program by this name.
    argv0: process.execPath,
    env: { ...parts.environment, [WORKER]: String(number) },
    stdio: ['ignore', 'inherit', 'pipe'],
    serialization: 'json',
    ipc: (text) => {
      const { success, output } = v.safeParse(WorkerMessage, text)
      if (!success) return
      if (output.kind === 'refused') {
        refusal = output.reason
        return
      }
      isReady = true
      resolve(output.lines)
    },
  })
  const written = writeLines(child.stderr, parts.writeLine)
  const ended = child.exited.then(async () => {
    isReady = false
    resolve(undefined)
    await written
    return refusal ?? `it ended with ${child.signalCode ?? child.exitCode}`
  })
  return {
    ...{ number, ready, ended, kill: (signal) => child.kill(signal) },
    get isReady() {
      return isReady
    },
  }
}

// Lines of several processes in one stream must not be mixed, so each is passed on when it is whole.
async function writeLines(stream: ReadableStream<Uint8Array>, write: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of stream) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) write(line)
  }
  if (rest !== '') write(rest)
}
