// A relay of several processes on one port: clients of one reach those of another, one that dies is replaced,
// and all end together.
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { operatorSocketOf, sendOperatorCommand } from '../src/listener/operator-socket.ts'
import { runningBy } from '../src/succession/succession.ts'
import { writeAdminPage } from './admin-door.ts'
import { engines } from './engines.ts'
import { findFreePort } from './free-port.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { scrape } from './scrape.ts'
import { untilLogged } from './until-logged.ts'
import { befriend, call, message, type WireAccount, WireSocket, wireAccount } from './wire.ts'

setDefaultTimeout(240_000)

let relay: RelayProcess
let metricsPort = 0
let adminFolder = ''

beforeEach(async () => {
  const postgres = engines.find(({ name }) => name === 'PostgreSQL')
  metricsPort = await findFreePort()
  adminFolder = await mkdtemp(join(tmpdir(), 'sotto-admin-'))
  const ADMIN_DIR = await writeAdminPage(adminFolder)
  const env = { ADMIN_DIR, WORKERS: '2', METRICS_PORT: String(metricsPort), LOG_LEVEL: 'info' }
  relay = await startRelay({ env: { ...env, ...(await postgres?.environment()) } })
})
afterEach(async () => {
  await relay?.stop()
  await rm(adminFolder, { recursive: true, force: true })
})

/** The process of a worker; undefined while it cannot be asked. */
async function pidOf(worker: number): Promise<number | undefined> {
  const running = await runningBy(operatorSocketOf(relay.dataDir, worker)).catch(() => undefined)
  return running?.pid
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(20)
}

/** How many connections each worker has. */
async function connections(): Promise<number[]> {
  const { value } = await scrape(metricsPort)
  return [1, 2].map((worker) => value(`sotto_connections{worker="${worker}"}`))
}

/** Connects to one of the workers: the system chooses one for each connection. */
async function connectTo(worker: number, account: WireAccount): Promise<WireSocket> {
  const url = `${relay.url.replace('http', 'ws')}/ws`
  for (;;) {
    const before = await connections()
    const socket = await WireSocket.open(`${url}?user_uuid=${account.uuid}&ticket=${await account.ticket()}`)
    socket.frames.unshift(...(await socket.untilSynced()))
    const after = await connections()
    if (after[worker - 1] !== before[worker - 1]) return socket
    socket.socket.close()
    await socket.closed
    // The worker learns of the end later than this client.
    await until(async () => Bun.deepEquals(await connections(), before))
  }
}

test('both serve; messages go from one to the other; one that dies is replaced, and loses nothing', async () => {
  const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
  const conv = await befriend(alice, bob)
  const fromBob = await connectTo(2, bob)
  const fromAlice = await connectTo(1, alice)
  fromAlice.send(message(bob.alias, conv, 'across'))
  const { seq } = await fromBob.next('msg')
  fromBob.send({ type: 'delivered', conv_id: conv, seq, to: alice.alias })
  expect(await fromAlice.next('delivered')).toMatchObject({ conv_id: conv, seq })

  const killed = (await pidOf(2)) ?? 0
  process.kill(killed, 'SIGKILL')
  await fromBob.closed
  fromAlice.send(message(bob.alias, conv, 'meanwhile'))
  await fromAlice.next('ack')
  await until(async () => ![undefined, killed].includes(await pidOf(2)))
  const again = await connectTo(2, bob)
  const { payload } = await again.next('msg')
  expect(Buffer.from(payload, 'base64').toString()).toBe('meanwhile')
  const ended = relay
    .errors()
    .split('\n')
    .find((line) => line.includes('"worker_ended"'))
  expect(JSON.parse(ended ?? '{}')).toMatchObject({
    level: 'error',
    worker: 2,
    reason: 'it ended with SIGKILL',
  })

  // One socket for commands, and one text of metrics, each value with its worker.
  expect(await runningBy(operatorSocketOf(relay.dataDir))).toMatchObject({ pid: relay.pid, ready: true })
  expect(await sendOperatorCommand(operatorSocketOf(relay.dataDir), 'status', {})).toMatchObject({
    answer: { accounts: 2 },
  })
  const { text } = await scrape(metricsPort)
  const check = Bun.spawn(['promtool', 'check', 'metrics'], {
    ...{ stdin: new Blob([text]), stdout: 'pipe', stderr: 'pipe' },
  })
  const complaints = (await new Response(check.stdout).text()) + (await new Response(check.stderr).text())
  expect({ complaints, code: await check.exited }).toEqual({ complaints: '', code: 0 })

  expect(await relay.kill('SIGTERM')).toBe(0)
  expect([(await fromAlice.closed).code, (await again.closed).code]).toEqual([1012, 1012])
  const lines = relay
    .errors()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const stopped = lines.filter(({ event }) => event === 'stopped').map(({ worker }) => worker)
  expect(stopped.sort()).toEqual([1, 2, undefined])
})

test('the admin page is closed in whichever worker it is open', async () => {
  const opened = await sendOperatorCommand(operatorSocketOf(relay.dataDir, 2), 'admin.open', { who: 'ada' })
  const { url } = Object(opened?.answer)
  expect((await fetch(url)).status).toBe(200)
  const close = () => sendOperatorCommand(operatorSocketOf(relay.dataDir), 'admin.close', {})
  expect((await close())?.answer).toEqual({ was_open: true })
  expect(await failureOf(fetch(url))).toBeInstanceOf(Error)
  expect((await close())?.answer).toEqual({ was_open: false })
})

test('workers end when the process that started them is killed, and free the port', async () => {
  const pids = [await pidOf(1), await pidOf(2)]
  await relay.kill('SIGKILL')
  const lives = (pid = 0): boolean => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  await until(async () => !pids.some(lives))
  await relay.start()
  expect((await call(`${relay.url}/health`)).status).toBe(200)
  expect(await pidOf(1)).not.toBe(pids[0])
})

test('a worker that dies again and again is started after a pause that grows, and the other one stays', async () => {
  const first = await pidOf(1)
  process.kill((await pidOf(2)) ?? 0, 'SIGKILL')
  await untilLogged(relay, 'worker_ended')
  await until(async () => (await pidOf(2)) !== undefined)
  process.kill((await pidOf(2)) ?? 0, 'SIGKILL')
  await untilLogged(relay, 'worker_ended', { times: 2 })
  const pauses = Array.from(relay.errors().matchAll(/"worker_ended".*"durationMs":(\d+)/g), ([, ms]) =>
    Number(ms),
  )
  expect(pauses).toEqual([100, 200])
  expect(await pidOf(1)).toBe(first)
})
