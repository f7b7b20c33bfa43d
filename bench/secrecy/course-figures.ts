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
