// One conversation under version 3 while its device is connected: gives events to its course one after
// the other, writes what a step keeps, and then sends, asks and tells.
import { SerialQueue } from '../platform/platform.ts'
import {
  type Course,
  type CourseEvent,
  decodeCourse,
  encodeCourse,
  newCourse,
  type Step,
  type Surroundings,
  step,
} from '../secrecy/version-3/version-3.ts'
import type { SecretStates, SecretUpdate } from '../stores/secret-states.ts'
import type { StoreChange } from '../stores/stores.ts'

/** What the `sync_end` of a connection says to every course. */
export interface Synced {
  readonly incarnation?: string
  readonly isDoubtful: boolean
}

/** What a step needs and causes outside its conversation. */
export interface CourseHost {
  readonly states: SecretStates
  readonly conversationId: string
  /** Undefined while the contact's keys are unknown or refused. */
  readonly surroundings: () => Promise<Surroundings | undefined>
  /** The changes of a step's records, and what to do once they are stored. */
  readonly record: (made: Step) => Promise<Recorded>
  /** The secrets that go with a step, because they were used. */
  readonly usedSecrets: (made: Step) => Promise<readonly SecretUpdate[]>
  /** Called after a step is durable: sends, asks and tells. */
  readonly afterStep: (made: Step) => void
  /** Undefined until this connection has its `sync_end`. */
  readonly synced: () => Synced | undefined
}

/** Changes to write with a state, and work for after that. */
export interface Recorded {
  readonly changes: readonly StoreChange[]
  readonly after: () => void
}

/** Why an event was not handled. */
type NotNow = 'no_keys'

export class RunningCourse {
  readonly #host: CourseHost
  readonly #queue = new SerialQueue()
  #course: Course | undefined
  #wasSynced: Synced | undefined
  #maySend = false

  constructor(host: CourseHost) {
    this.#host = host
  }

  /** Whether the next message can be encrypted, as of the last step. */
  get maySend(): boolean {
    return this.#maySend
  }

  /**
   * Gives an event to the course, with other changes of the same write. Resolves once all is durable,
   * with the step.
   * @returns `no_keys` if nothing can happen now
   */
  give(event: CourseEvent, changes: readonly StoreChange[] = []): Promise<Step | NotNow> {
    return this.#queue.run(async () => {
      const around = await this.#host.surroundings()
      if (!around) return 'no_keys'
      await this.#load(around)
      return this.#step(event, around, changes)
    })
  }

  /** What holds it up until the user decides. */
  stop(): Promise<Course['stop']> {
    return this.#queue.run(async () => (this.#course ?? (await this.#read())).stop)
  }

  /** Resolves when everything that was given before has settled. */
  settled(): Promise<void> {
    return this.#queue.settled()
  }

  async #load(around: Surroundings): Promise<void> {
    this.#course ??= await this.#read()
    const synced = this.#host.synced()
    if (!synced || synced === this.#wasSynced) return
    this.#wasSynced = synced
    await this.#step({ type: 'synced', ...synced }, around, [])
  }

  async #read(): Promise<Course> {
    const { states, conversationId } = this.#host
    const state = await states.get('conversation', conversationId)
    // What cannot be read is lost. The course then rejoins.
    return state instanceof Uint8Array ? decodeCourse(state) : newCourse()
  }

  async #step(event: CourseEvent, around: Surroundings, changes: readonly StoreChange[]): Promise<Step> {
    const before = this.#course ?? newCourse()
    const made = await step(before, event, around)
    const { changes: recorded, after } = await this.#host.record(made)
    const entered = presentEpoch(made.course) !== presentEpoch(before)
    const state = encodeCourse(made.course)
    const used = await this.#host.usedSecrets(made)
    await this.#host.states.write(
      [{ kind: 'conversation', id: this.#host.conversationId, state }, ...used],
      [...changes, ...recorded],
      { rotates: entered },
    )
    this.#course = made.course
    this.#maySend = made.maySend
    after()
    this.#host.afterStep(made)
    return made
  }
}

function presentEpoch({ groups }: Course): number | undefined {
  return groups.at(-1)?.epoch
}
