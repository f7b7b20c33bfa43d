// What version 3 costs at both ends of a conversation. Runs in Bun and in browsers.
import { TwoCourses } from './two-courses.ts'

/** Times in milliseconds, one a run, and sizes in bytes. */
export interface CourseFigures {
  /** One message, encrypted at one end and opened at the other one. */
  readonly messageMs: readonly number[]
  /** The first message to a new friend, whose key package the relay has. */
  readonly firstMs: readonly number[]
  /** The first message of a device that lost its state. */
  readonly rejoinMs: readonly number[]
  /** What a message has beside its padded content. */
  readonly extraBytes: readonly number[]
  /** The larger state of the two ends, after all of it. */
  readonly stateBytes: number
}

/** What it costs that the other end is away. */
export interface AwayFigures {
  /** One more message, encrypted and accepted, while thousands before it have no acknowledgement. */
  readonly sendMs: readonly number[]
  /** The state of the sender then. */
  readonly stateBytes: number
  /** One of these messages, opened at the other end. */
  readonly openMs: readonly number[]
}

/** How many more messages are timed one by one. */
const TIMED = 50

/** Measures one end that sends while the other one is away. @param unread how many messages it has sent */
export async function measureAway(unread: number): Promise<AwayFigures> {
  const courses = await TwoCourses.open()
  await courses.say('hello')
  await courses.say('hello, too', 1)
  const openFirst = await courses.prepare(Array.from({ length: unread }, (_, at) => `message ${at}`))
  const { stateBytes } = courses
  const sendMs: number[] = []
  const opens: (() => Promise<void>)[] = []
  for (let each = 0; each < TIMED; each++)
    sendMs.push(await timed(async () => opens.push(await courses.prepare([`more ${each}`]))))
  await openFirst()
  const openMs: number[] = []
  for (const open of opens) openMs.push(await timed(open))
  return { sendMs, stateBytes, openMs }
}

/** Measures. @param rounds conversations that begin, and rejoins; ten times as many messages are sent */
export async function measureCourses(rounds: number): Promise<CourseFigures> {
  const firstMs: number[] = []
  const rejoinMs: number[] = []
  const messageMs: number[] = []
  const extraBytes: number[] = []
  let stateBytes = 0
  for (let round = 0; round < rounds; round++) {
    const courses = await TwoCourses.open()
    firstMs.push(await timed(() => courses.say('hello')))
    await courses.say('hello, too', 1)
    for (let each = 0; each < 10; each++) {
      const from = each % 2 === 0 ? 0 : 1
      messageMs.push(await timed(async () => extraBytes.push(await courses.say(`message ${each}`, from))))
    }
    await courses.loseSecond()
    rejoinMs.push(await timed(() => courses.say('I lost my device', 1)))
    await courses.say('come in')
    stateBytes = Math.max(stateBytes, courses.stateBytes)
  }
  return { messageMs, firstMs, rejoinMs, extraBytes, stateBytes }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
