// What `sotto upgrade` needs of a running relay: who it is, whether it is ready, and that it makes room.
import * as v from 'valibot'
import { type OperatorCommand, OperatorRefusal, operatorCommand } from '../listener/operator-command.ts'
import { sendOperatorCommand } from '../listener/operator-socket.ts'
import type { Readiness } from '../operations/readiness.ts'
import { version } from '../version.ts'

const Running = v.object({
  pid: v.number(),
  version: v.string(),
  /** As in `/ready`. */
  ready: v.boolean(),
  /** How long a new version may take to be ready. */
  ready_seconds: v.number(),
  /** How long the relay takes at most to stop. */
  stop_seconds: v.number(),
})
/** A running relay, as it says itself. */
export type Running = v.InferOutput<typeof Running>

/** The operator's commands by which a new version takes the place of this process. */
export class Succession {
  /** Resolves when the operator wants the process to make room. */
  readonly handedOver: Promise<'upgrade'>
  readonly #handOver: (reason: 'upgrade') => void
  readonly #parts: SuccessionParts

  constructor(parts: SuccessionParts) {
    const { promise, resolve } = Promise.withResolvers<'upgrade'>()
    this.handedOver = promise
    this.#handOver = resolve
    this.#parts = parts
  }

  /** The commands, by name. */
  commands(readiness: () => Promise<Readiness>): Readonly<Record<'running' | 'hand-over', OperatorCommand>> {
    const { canHandOver, readySeconds, stopSeconds } = this.#parts
    return {
      running: operatorCommand(
        v.object({}),
        async (): Promise<Running> => ({
          ...{ pid: process.pid, version, ready: (await readiness()).ready },
          ...{ ready_seconds: readySeconds, stop_seconds: stopSeconds },
        }),
      ),
      'hand-over': operatorCommand(v.object({}), async () => {
        if (!canHandOver)
          throw new OperatorRefusal('the running relay was started from a clone; stop it, and start it again')
        this.#handOver('upgrade')
        return {}
      }),
    }
  }
}

interface SuccessionParts {
  /** Whether somebody starts the program again when this process made room. */
  readonly canHandOver: boolean
  readonly readySeconds: number
  readonly stopSeconds: number
}

/**
 * Asks the relay that listens on a socket about itself.
 * @returns undefined if no relay listens
 * @throws OperatorRefusal if it does not answer
 */
export async function runningBy(socket: string): Promise<Running | undefined> {
  const reply = await sendOperatorCommand(socket, 'running', {})
  if (!reply) return undefined
  const { success, output } = v.safeParse(Running, reply.answer)
  if (success) return output
  throw new OperatorRefusal('the running relay answered in a form that this version does not know')
}

/** Has the relay on a socket make room. @throws OperatorRefusal if it refuses, or none listens */
export async function handOverBy(socket: string): Promise<void> {
  if (!(await sendOperatorCommand(socket, 'hand-over', {}))) throw new OperatorRefusal('no relay runs')
}
