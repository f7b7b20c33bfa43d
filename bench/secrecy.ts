// `npm run bench -- secrecy`: what version 3 costs, in Bun and in Debian's Chromium: messages, beginnings,
// rejoins, sizes, and a backlog on a processor slowed four times.
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { MemoryStore } from '../packages/client/src/client.ts'
import { forwardSecrecy } from '../packages/client/src/forward-secrecy/entry.ts'
import { serveApp, startChromium } from '../packages/client/test/browser/chromium.ts'
import { Person, until } from '../packages/client/test/people.ts'
import { SLOWDOWN } from './app/measured-browser.ts'
import { sendAll } from './app/people.ts'
import type { Bench } from './bench.ts'
import { median, percentile } from './measure.ts'
import {
  type AwayFigures,
  type CourseFigures,
  measureAway,
  measureCourses,
} from './secrecy/course-figures.ts'
import type { SecrecyPage } from './secrecy/secrecy-page.ts'
import { startMeasuredRelay, takeAllCores } from './server-process.ts'

const ROUNDS = 30
const BACKLOGS = 3
const BACKLOG = 2000

/** What is wanted, in milliseconds and bytes. */
const TARGETS = { message: 2, first: 60, rejoin: 60, extra: 200, state: 32_768, backlog: 3000 }

type Calls = Omit<SecrecyPage, 'isReady'>
type Row = Readonly<Record<string, string | number>>

export const secrecy: Bench = {
  means: `crypto_v 3: messages, beginnings and rejoins in Bun and Chromium; ${BACKLOG} messages that waited`,
  run: async () => {
    await takeAllCores()
    // The first round of each compiles.
    await measureCourses(2)
    const rows = rowsOf('Bun', await measureCourses(ROUNDS))
    rows.push(...rowsOfAway('Bun', await measureAway(BACKLOG)))
    rows.push(...(await inChromium()))
    return { settings: { rounds: ROUNDS, backlog: BACKLOG, slowdown: SLOWDOWN }, rows }
  },
}

function rowsOf(where: string, figures: CourseFigures): Row[] {
  const { messageMs, firstMs, rejoinMs, extraBytes, stateBytes } = figures
  return [
    rowOf(where, 'a message, both ends', messageMs, { unit: 'ms', target: TARGETS.message }),
    rowOf(where, 'the first to a new friend, both ends', firstMs, { unit: 'ms', target: TARGETS.first }),
    rowOf(where, 'the first after a lost state, both ends', rejoinMs, { unit: 'ms', target: TARGETS.rejoin }),
    rowOf(where, 'a message beside its padded content', extraBytes, { unit: 'bytes', target: TARGETS.extra }),
    rowOf(where, 'the state of a conversation', [stateBytes], { unit: 'bytes', target: TARGETS.state }),
  ]
}

function rowsOfAway(where: string, { sendMs, stateBytes, openMs }: AwayFigures): Row[] {
  const after = `after ${BACKLOG} that nobody has read`
  const of = { unit: 'ms', target: TARGETS.message }
  return [
    rowOf(where, `a message ${after}, sent`, sendMs, of),
    rowOf(where, 'one of them, opened', openMs, of),
    rowOf(where, `the state ${after}`, [stateBytes], { unit: 'bytes', target: TARGETS.state }),
  ]
}

function rowOf(
  where: string,
  what: string,
  runs: readonly number[],
  { unit, target }: { readonly unit: string; readonly target: number },
): Row {
  const rounded = (value: number): number => Math.round(value * 10) / 10
  return { where, what, median: rounded(median(runs)), p90: rounded(percentile(runs, 90)), unit, target }
}

async function inChromium(): Promise<Row[]> {
  const worker = join(import.meta.dir, '../packages/client/src/stores/erasure-worker.ts')
  const [app, browser] = [
    await serveApp(join(import.meta.dir, 'secrecy/secrecy-page.ts'), worker),
    await startChromium(),
  ]
  const page = await browser.newPage()
  await page.goto(app.url)
  await page.waitForFunction(() => 'isReady' in globalThis)
  await call(page, 'measureCourses', 2)
  const rows = rowsOf('Chromium', await call(page, 'measureCourses', ROUNDS))
  rows.push(...rowsOfAway('Chromium', await call(page, 'measureAway', BACKLOG)))
  rows.push(await measureBacklog(page))
  await browser.close()
  await app.stop()
  return rows
}

/** From the beginning of the connection until the last of the messages that waited is stored. */
async function measureBacklog(page: Page): Promise<Row> {
  const relay = await startMeasuredRelay()
  const options = { forwardSecrecy: forwardSecrecy(), store: new MemoryStore() }
  const friend = await Person.join('friend', relay.url, options)
  const alias = await call(page, 'join', relay.url)
  await friend.client.requestFriend(alias)
  await until('the page accepts', () => friend.heard.friend_accepted[0])
  const stop = friend.client.on('message', () => void friend.client.send(alias, 'from the friend'))
  await call(page, 'talk', friend.alias)
  stop()
  const devTools = await page.context().newCDPSession(page)
  const runs: number[] = []
  for (let round = 0; round < BACKLOGS; round++) {
    await call(page, 'disconnect')
    const texts = Array.from({ length: BACKLOG }, (_, at) => `message ${at} of round ${round}`)
    await sendAll(friend, alias, texts)
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
    runs.push(await call(page, 'catchUp', friend.alias, texts.at(-1) ?? ''))
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  }
  await call(page, 'close')
  await friend.client.close()
  await relay.stop()
  const what = `${BACKLOG} messages that waited, stored, on a processor slowed ${SLOWDOWN} times`
  return rowOf('Chromium', what, runs, { unit: 'ms', target: TARGETS.backlog })
}

function call<N extends keyof Calls>(
  page: Page,
  name: N,
  ...args: Parameters<Calls[N]>
): Promise<Awaited<ReturnType<Calls[N]>>> {
  return page.evaluate(({ name, args }) => Reflect.apply(Reflect.get(globalThis, name), undefined, args), {
    name,
    args,
  })
}
