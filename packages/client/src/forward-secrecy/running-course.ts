// One conversation under version 3 while its device is connected: gives events to its course one after
// the other, writes what a step keeps, and then sends, asks and tells.
import { CALL_EXPORTER_LABEL, CALL_SECRET_BYTES } from '@sotto/crypto/version-3'
import { exportSecret, type Group } from '@sotto/mls'
import { ClientError } from '../client-error.ts'
import { type Clock, SerialQueue } from '../platform/platform.ts'
import {
  type Course,
  type CourseEvent,
  newCourse,
  presentOf,
  type Step,
  type Surroundings,
  step,
  stepWithoutKeys,
} from '../secrecy/version-3/version-3.ts'
import type { SecretStates, SecretUpdate } from '../stores/secret-states.ts'
import type { StoreChange } from '../stores/stores.ts'
import { LeftSecrets } from './left-secrets.ts'
import { StoredCourse } from './stored-course.ts'

/** What the `sync_end` of a connection says to every course. */
export interface Synced {
  readonly incarnation?: string
  readonly isDoubtful: boolean
}

/** What a step needs and causes outside its conversation. */
export interface CourseHost {
  readonly states: SecretStates
  readonly conversationId: string
  readonly clock: Pick<Clock, 'after' | 'now'>
  /** Undefined while the contact's keys are unknown or refused. */
  readonly surroundings: () => Promise<Surroundings | undefined>
  /**
   * The changes of a step's records, and what to do once they are stored. `at` is when the relay took the
   * message of the event.
   */
  readonly record: (made: Step, at: number | undefined) => Promise<Recorded>
  /** Whether the changes of a step depend on what the store has: then they come after all earlier writes. */
  readonly readsStore: (made: Step) => boolean
  /** The secrets that go with a step, because they were used. */
  readonly usedSecrets: (made: Step) => Promise<readonly SecretUpdate[]>
  /** Called after a step is durable: sends, asks and tells. */
  readonly afterStep: (made: Step) => void
  /** Called once if the state is one that only a later version of this program reads. */
  readonly onLaterVersion: () => void
  /** Whether the contact is known to speak version 3, whatever the state says. */
  readonly peerSpeaks: () => boolean
  /** Undefined until this connection has its `sync_end`. */
  readonly synced: () => Synced | undefined
}

/** Changes to write with a state, and work for after that. */
export interface Recorded {
  readonly changes: readonly StoreChange[]
  /** Makes changes of whole records right before the write, so that none overwrites a newer one. */
  readonly late?: () => readonly StoreChange[]
  readonly after: () => void
}

/** Why an event was not handled. Under `later_version` it never is in this run, and nothing is written. */
type NotNow = 'no_keys' | 'later_version'

/** A frame, and when the relay took its message, in milliseconds since 1970. */
export interface TimedFrame {
  readonly event: Extract<CourseEvent, { readonly type: 'frame' }>
  readonly at: number
}

/** A step that is not stored yet. */
interface Made {
  readonly step: Step
  readonly recorded: Recorded
  readonly used: readonly SecretUpdate[]
  readonly isEntry: boolean
  readonly left: readonly { readonly epoch: number; readonly secret: Uint8Array }[]
}

/** How many frames share a write. */
const FRAMES_IN_WRITE = 64
/** Frames are taken for so long, in milliseconds: other events of the conversation wait meanwhile. */
const TAKEN_MS = 1000

export class RunningCourse {
  readonly #host: CourseHost
  readonly #queue = new SerialQueue()
  readonly #left: LeftSecrets
  readonly #stored: StoredCourse
  #course: Course | undefined
  #isOfLaterVersion = false
  #wasSynced: Synced | undefined
  #maySend = false

  constructor(host: CourseHost) {
    this.#host = host
    this.#left = new LeftSecrets(host.clock)
    this.#stored = new StoredCourse(host.states, host.conversationId)
  }

  /** Whether the next message can be encrypted, as of the last step. */
  get maySend(): boolean {
    return this.#maySend
  }

  /**
   * Gives an event to the course, with other changes of the same write. Resolves once all is durable,
   * with the step.
   * @param at when the relay took the message of the event, in milliseconds since 1970
   * @returns why nothing happened, if nothing did. What needs no keys of the contact is noted without them.
   */
  give(event: CourseEvent, changes: readonly StoreChange[] = [], at?: number): Promise<Step | NotNow> {
    return this.#queue.run(async () => {
      const before = await this.#read()
      if (!before) return 'later_version'
      const around = await this.#host.surroundings()
      if (around) {
        await this.#load(around)
        return this.#step(event, around, changes, at)
      }
      const made = await stepWithoutKeys(before, event, this.#host.clock.now())
      if (made) await this.#store([await this.#made(before, made, at)], changes)
      return made ?? 'no_keys'
    })
  }

  /**
   * Gives frames that follow each other, with one write for up to 64 of them. The steps of the next ones are
   * made meanwhile. Resolves once what it has taken is durable, with a result for each; the rest of the
   * frames has to be given again. A crash before a write leaves its frames at the relay, as if none had come.
   * @param frames no two of them with the same id or `seq`
   * @returns at least one result; the last one may be why it was not handled, or of the outcome `later`
   */
  giveFrames(frames: readonly TimedFrame[]): Promise<readonly (Step | NotNow)[]> {
    return this.#queue.run(() => this.#takeFrames(frames))
  }

  /** What holds it up until the user decides. */
  stop(): Promise<Course['stop']> {
    return this.#queue.run(async () => (await this.#read())?.stop)
  }

  /** The relay's epoch of the present group; undefined without one. */
  epoch(): Promise<number | undefined> {
    return this.#queue.run(async () => presentOf(await this.#loaded())?.epoch)
  }

  /** What the present group exports for calls; undefined without one. */
  callSecret(): Promise<{ readonly epoch: number; readonly secret: Uint8Array } | undefined> {
    return this.#queue.run(async () => {
      const present = presentOf(await this.#loaded())
      return present && { epoch: present.epoch, secret: await callSecretOf(present.group) }
    })
  }

  /**
   * What the group of an epoch exports for calls: of the kept groups, and of those that were left lately.
   * @returns `later` if this device has not entered that epoch yet; undefined if the keys are gone
   */
  callSecretIn(epoch: number): Promise<Uint8Array | 'later' | undefined> {
    return this.#queue.run(async () => {
      const course = await this.#loaded()
      const kept = course.groups.find((each) => each.epoch === epoch)
      if (kept) return callSecretOf(kept.group)
      return epoch > (presentOf(course)?.epoch ?? 0) ? 'later' : this.#left.find(epoch)
    })
  }

  /** Erases what is only in memory. Call it once nothing is given any more. */
  forget(): void {
    this.#left.clear()
  }

  /** Runs work while no event is handled. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(work)
  }

  /** Resolves when everything that was given before has settled. */
  settled(): Promise<void> {
    return this.#queue.settled()
  }

  async #load(around: Surroundings): Promise<void> {
    const synced = this.#host.synced()
    if (!synced || synced === this.#wasSynced) return
    this.#wasSynced = synced
    await this.#step({ type: 'synced', ...synced }, around, [])
    // The state was lost, or the archive of this history had none. What waits must not wait for the contact.
    if (this.#host.peerSpeaks() && !this.#course?.peerSpeaks)
      await this.#step({ type: 'peer_speaks' }, around, [])
  }

  /** @throws ClientError `LATER_VERSION` */
  async #loaded(): Promise<Course> {
    const course = await this.#read()
    if (!course) throw ofLaterVersion()
    return course
  }

  /** The state; undefined for one of a later version, which must stay as it is. */
  async #read(): Promise<Course | undefined> {
    if (this.#course || this.#isOfLaterVersion) return this.#course
    const found = await this.#stored.read()
    if (found !== 'later_version') this.#course = found
    else {
      this.#isOfLaterVersion = true
      this.#host.onLaterVersion()
    }
    return this.#course
  }

  async #step(
    event: CourseEvent,
    around: Surroundings,
    changes: readonly StoreChange[],
    at?: number,
  ): Promise<Step> {
    const before = this.#course ?? newCourse()
    const made = await step(before, event, around)
    await this.#store([await this.#made(before, made, at)], changes)
    return made
  }

  async #takeFrames(frames: readonly TimedFrame[]): Promise<readonly (Step | NotNow)[]> {
    const results: (Step | NotNow)[] = []
    const made: Made[] = []
    /** Steps are made while those before them are being written. */
    let written: Promise<void> = Promise.resolve()
    const store = async (): Promise<void> => {
      await written
      written = this.#store(made.splice(0), [])
      // Its error is thrown where `written` is awaited. Until then it must not count as unhandled.
      written.catch(() => {})
    }
    try {
      if (!(await this.#read())) return ['later_version']
      let before: Course | undefined
      let startedAt = 0
      for (const { event, at } of frames) {
        const around = await this.#host.surroundings()
        if (!around) {
          results.push('no_keys')
          break
        }
        if (!before) {
          await this.#load(around)
          before = this.#course ?? newCourse()
          startedAt = around.now
        }
        const course = before
        const taken = await unlessLater(results.length > 0, () => step(course, event, around))
        // It failed, and is given again once the steps before it are stored.
        if (!taken) break
        const isAlone = this.#host.readsStore(taken)
        if (isAlone) {
          await store()
          await written
        }
        const next = await unlessLater(results.length > 0, () => this.#made(course, taken, at))
        if (!next) break
        made.push(next)
        results.push(taken)
        before = taken.course
        if (isAlone || taken.outcome === 'later' || around.now - startedAt >= TAKEN_MS) break
        if (made.length === FRAMES_IN_WRITE) await store()
      }
      await store()
      await written
      return results
    } finally {
      // The next event must not be given to the course of before it.
      await Promise.allSettled([written])
    }
  }

  async #made(before: Course, made: Step, at: number | undefined): Promise<Made> {
    return {
      step: made,
      recorded: await this.#host.record(made, at),
      used: await this.#host.usedSecrets(made),
      isEntry: presentOf(made.course)?.epoch !== presentOf(before)?.epoch,
      left: await this.#leftBy(before, made.course),
    }
  }

  /** Makes steps that follow each other durable, in one write, and then does what they say. */
  async #store(made: readonly Made[], changes: readonly StoreChange[]): Promise<void> {
    const last = made.at(-1)?.step
    if (!last) return
    const { updates, after } = this.#stored.update(last.course)
    await this.#host.states.write(
      [...updates, ...made.flatMap(({ used }) => used)],
      [...changes, ...made.flatMap(({ recorded }) => recorded.changes)],
      {
        rotates: made.some(({ isEntry }) => isEntry),
        late: () => made.flatMap(({ recorded }) => recorded.late?.() ?? []),
      },
    )
    after()
    this.#course = last.course
    // A connection that is lost may be told late, after the next one: its `sync_end` counts once more then.
    if (!last.course.connection.isSynced) this.#wasSynced = undefined
    this.#maySend = last.maySend
    for (const { step, recorded, left } of made) {
      for (const { epoch, secret } of left) this.#left.add(epoch, secret)
      recorded.after()
      // Its handshake may be needless by now: a later frame of this write was the contact's commit of the
      // same epoch. The relay has that one, so it refuses this one as stale, which changes nothing here.
      this.#host.afterStep(step)
    }
  }

  /** The call secrets of the groups that a step has dropped: signals may be under way in their epochs. */
  async #leftBy(before: Course, after: Course): Promise<{ epoch: number; secret: Uint8Array }[]> {
    const kept = new Set(after.groups.map(({ epoch }) => epoch))
    const dropped = before.groups.filter(({ epoch }) => !kept.has(epoch))
    return Promise.all(
      dropped.map(async ({ epoch, group }) => ({ epoch, secret: await callSecretOf(group) })),
    )
  }
}

/** What is thrown where a state of a later version would be needed. */
export function ofLaterVersion(): ClientError {
  return new ClientError(
    'LATER_VERSION',
    'a later version of this program has written this conversation’s keys',
  )
}

/** 32 bytes: what a group exports for the calls of its epoch (RFC 9420, section 8.5). */
function callSecretOf(group: Group): Promise<Uint8Array> {
  return exportSecret(group, CALL_EXPORTER_LABEL, new Uint8Array(), CALL_SECRET_BYTES)
}

/** What `make` makes; undefined if it fails after others that are taken, and are stored all the same. */
async function unlessLater<T>(isLater: boolean, make: () => Promise<T>): Promise<T | undefined> {
  try {
    return await make()
  } catch (error) {
    if (isLater) return undefined
    throw error
  }
}
