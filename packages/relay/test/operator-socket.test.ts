// The operator's socket: who can open it, what it serves, and what happens to it when relays start and stop.
import { afterEach, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, lstatSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { type OperatorCommand, OperatorRefusal } from '../src/listener/operator-command.ts'
import {
  operatorSocketOf,
  sendOperatorCommand,
  startOperatorSocket,
} from '../src/listener/operator-socket.ts'
import type { Log } from '../src/operations/log.ts'
import { tellRelay } from '../src/operator.ts'
import { askRunning, handOver } from '../src/operator-upgrade.ts'
import { version } from '../src/version.ts'
import { engines } from './engines.ts'
import { eventually } from './payment-watch.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { errorLines } from './use-relay.ts'
import { call, wireAccount } from './wire.ts'

const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-operator-'))
  endings.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function start(env: Record<string, string> = {}): Promise<RelayProcess> {
  const relay = await startRelay({ env })
  endings.push(() => relay.stop())
  return relay
}

/** Sends a request to the socket. @returns its answer */
async function send(path: string, target: string, init: RequestInit = {}) {
  const response = await fetch(`http://relay/${target}`, { unix: path, method: 'POST', body: '{}', ...init })
  return { status: response.status, text: await response.text() }
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777
}

/**
 * Expects one warning that the relay has no socket. The warning may arrive after the line that the relay
 * listens, because the two use different pipes.
 */
async function expectWarned(relay: RelayProcess): Promise<void> {
  await eventually(() => expect(warnings(relay)).toHaveLength(1))
}

function warnings(relay: RelayProcess): string[] {
  return relay
    .errors()
    .split('\n')
    .filter((line) => line.includes('operator_door_missing'))
}

describe('who can open it', () => {
  test('only the relay’s user can open the socket and the folder made for it, even with umask 0', async () => {
    const dataDir = join(await temporaryFolder(), 'made', 'by the relay')
    const umask = process.umask(0)
    await start({ DATA_DIR: dataDir }).finally(() => process.umask(umask))
    expect(lstatSync(operatorSocketOf(dataDir)).isSocket()).toBe(true)
    expect(modeOf(operatorSocketOf(dataDir))).toBe(0o600)
    expect(modeOf(dataDir)).toBe(0o700)
  })

  // Only root can become another user.
  if (process.getuid?.() === 0) {
    test('another user cannot open it, even in a folder that is open to all', async () => {
      const relay = await start()
      chmodSync(relay.dataDir, 0o777)
      const path = operatorSocketOf(relay.dataDir)
      const attempt = `
        process.setgid(65534)
        process.setuid(65534)
        const outcome = await fetch('http://relay/orders.list', { unix: ${JSON.stringify(path)}, method: 'POST' })
          .then(() => 'let in', ({ code }) => code)
        process.stdout.write(process.getuid() + ' ' + outcome)`
      const other = Bun.spawn([process.execPath, '-e', attempt], { stdin: 'ignore', stdout: 'pipe' })
      expect(await new Response(other.stdout).text()).toBe('65534 EACCES')
      expect((await send(path, 'orders.list')).status).toBe(200)
    })
  }

  test('clients cannot reach it through the relay’s port', async () => {
    const relay = await start()
    for (const path of ['/orders.list', '/operator.sock/orders.list', '/api/v1/orders.list'])
      expect((await call(`${relay.url}${path}`, { method: 'POST', body: '{}' })).status).toBe(404)
  })
})

describe('what it serves', () => {
  test('commands are answered with the version, and refusals with a readable reason', async () => {
    const relay = await start()
    const path = operatorSocketOf(relay.dataDir)
    expect(await send(path, 'orders.list')).toEqual({
      status: 200,
      text: JSON.stringify({ version, answer: [] }),
    })
    const order_id = `ord_${'x'.repeat(24)}`
    expect(await send(path, 'orders.show', { body: JSON.stringify({ order_id }) })).toEqual({
      status: 422,
      text: JSON.stringify({ version, error: `there is no order ${order_id}` }),
    })
    expect((await send(path, 'orders.show', { body: '{"order_id":7}' })).text).toContain('order_id: ')
    expect(errorLines(relay.errors())).toEqual([])
  })

  test('nothing else is served: no other path or method, no body that is not an object, no body above 64 KiB', async () => {
    const relay = await start()
    const path = operatorSocketOf(relay.dataDir)
    for (const target of [
      '',
      'health',
      'api/v1/me',
      'orders.drop',
      'constructor',
      'orders.list/x',
      '__proto__',
    ])
      expect(await send(path, target)).toMatchObject({ status: 404 })
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS'])
      expect(await send(path, 'orders.list', { method, body: null })).toMatchObject({ status: 404 })
    for (const body of ['[]', '"x"', '{', '7', '\u0000'])
      expect(await send(path, 'orders.list', { body })).toMatchObject({ status: 400 })
    const largest = `{}${' '.repeat(64 * 1024 - 2)}`
    expect(await send(path, 'orders.list', { body: largest })).toMatchObject({ status: 200 })
    expect(await send(path, 'orders.list', { body: `${largest} ` })).toMatchObject({ status: 413 })
    const pieces = new ReadableStream({
      start: (stream) => {
        for (let i = 0; i < 10; i++) stream.enqueue(new Uint8Array(10_000).fill(32))
        stream.close()
      },
    })
    expect(await send(path, 'orders.list', { body: pieces })).toMatchObject({ status: 413 })
    expect(await send(path, 'orders.list')).toMatchObject({ status: 200 })
    expect(errorLines(relay.errors())).toEqual([])
  })
})

describe('when relays start and stop', () => {
  test('a relay that stops removes its socket; the socket of a killed relay is replaced', async () => {
    const relay = await start()
    const path = operatorSocketOf(relay.dataDir)
    await relay.kill('SIGKILL')
    expect(existsSync(path)).toBe(true)
    expect(await sendOperatorCommand(path, 'orders.list', {})).toBeUndefined()
    await relay.start()
    expect(await sendOperatorCommand(path, 'orders.list', {})).toEqual({ answer: [] })
    expect(modeOf(path)).toBe(0o600)
    expect(await relay.kill('SIGTERM')).toBe(0)
    expect(existsSync(path)).toBe(false)
    expect(await sendOperatorCommand(path, 'orders.list', {})).toBeUndefined()
  })

  test('a socket that answers stays with its relay', async () => {
    const [, postgres] = engines
    const env = await postgres?.environment()
    const first = await start(env)
    const second = await start({ ...env, DATA_DIR: first.dataDir })
    await expectWarned(second)
    expect(errorLines(second.errors())).toEqual([])
    await second.kill('SIGTERM')
    expect(await sendOperatorCommand(operatorSocketOf(first.dataDir), 'orders.list', {})).toEqual({
      answer: [],
    })
    expect(warnings(first)).toEqual([])
  })

  test('if no socket can be made, the relay runs without it and warns once, and commands work on its store', async () => {
    const dataDir = await temporaryFolder()
    const path = operatorSocketOf(dataDir)
    await Bun.write(path, 'somebody’s notes')
    const relay = await start({ DATA_DIR: dataDir, MANUAL_PAY_TO: 'the till' })
    await expectWarned(relay)
    const alice = await wireAccount(relay.url)
    const order = async (alias_id: string) =>
      (await alice.post('/vanity/purchase', { alias_id })).body.order_id
    const [first, second] = [await order('riverbed'), await order('mountain')]
    for (const order_id of [first, second]) {
      const input = { order_id, who: 'ada', why: 'it was paid' }
      expect(await tellRelay({ DATA_DIR: dataDir }, 'orders.confirm', input)).toMatchObject({ order_id })
      expect((await alice.post('/vanity/bind', { order_id })).status).toBe(200)
    }
    const socket = await alice.connect()
    expect(await socket.next('payment_confirmed')).toMatchObject({ order_id: first })
    expect(await socket.next('payment_confirmed')).toMatchObject({ order_id: second })
    expect(errorLines(relay.errors())).toEqual([])
    expect(await relay.kill('SIGTERM')).toBe(0)
    expect(await Bun.file(path).text()).toBe('somebody’s notes')
  })

  test('a data folder whose path is too long for a socket works too', async () => {
    const dataDir = join(await temporaryFolder(), 'd'.repeat(200))
    const relay = await start({ DATA_DIR: dataDir })
    expect(await tellRelay({ DATA_DIR: dataDir }, 'orders.list', {})).toEqual([])
    expect(errorLines(relay.errors())).toEqual([])
    expect(await relay.kill('SIGTERM')).toBe(0)
  })

  test('with PostgreSQL the relay makes the folder for the socket, and runs without a socket if it cannot', async () => {
    const [, postgres] = engines
    const env = await postgres?.environment()
    const folder = await temporaryFolder()
    const made = await start({ ...env, DATA_DIR: join(folder, 'data') })
    expect(warnings(made)).toEqual([])
    expect(modeOf(join(folder, 'data'))).toBe(0o700)
    expect(await sendOperatorCommand(operatorSocketOf(join(folder, 'data')), 'orders.list', {})).toEqual({
      answer: [],
    })

    await Bun.write(join(folder, 'file'), '')
    const nowhere = { ...env, DATA_DIR: join(folder, 'file', 'data'), MEDIA_DIR: join(folder, 'media') }
    const without = await start(nowhere)
    await expectWarned(without)
    expect(await tellRelay(nowhere, 'orders.list', {})).toEqual([])
  })
})

describe('a socket without a relay', () => {
  async function open(commands: Record<string, OperatorCommand>, name = 'operator.sock') {
    const path = join(await temporaryFolder(), name)
    const events: string[] = []
    const note = (event: string): void => {
      events.push(event)
    }
    const log: Log = { error: note, warn: note, info: note, debug: note }
    return { path, events, socket: await startOperatorSocket({ path, commands, log }) }
  }

  test('a command that throws is logged, and the answer does not have the error’s text', async () => {
    const { path, events, socket } = await open({
      fail: async () => {
        throw new Error('no such table: secrets')
      },
    })
    const said = await send(path, 'fail')
    expect(said.status).toBe(500)
    expect(said.text).not.toContain('secrets')
    expect(await failureOf(sendOperatorCommand(path, 'fail', {}))).toBeInstanceOf(OperatorRefusal)
    expect(events).toEqual(['operator_command_failed', 'operator_command_failed'])
    await socket.stop()
  })

  test('a path that is too long for a socket is logged as a warning, and no socket answers', async () => {
    const { path, events, socket } = await open({ list: async () => [] }, 'x'.repeat(150))
    expect(events).toEqual(['operator_door_missing'])
    expect(await sendOperatorCommand(path, 'list', {})).toBeUndefined()
    await socket.stop()
  })

  test('stopping waits for running commands and accepts no new ones', async () => {
    const begun = Promise.withResolvers<void>()
    const wait = Promise.withResolvers<void>()
    const { path, socket } = await open({
      slow: async () => {
        begun.resolve()
        await wait.promise
        return 'done'
      },
    })
    const answer = sendOperatorCommand(path, 'slow', {})
    await begun.promise
    let isStopped = false
    const stopping = socket.stop().then(() => {
      isStopped = true
    })
    expect(await sendOperatorCommand(path, 'slow', {})).toBeUndefined()
    await Bun.sleep(50)
    expect(isStopped).toBe(false)
    wait.resolve()
    expect(await answer).toEqual({ answer: 'done' })
    await stopping
  })

  test('a relay of another version that does not know a command names its version', async () => {
    const { path, socket } = await open({})
    expect(String(await failureOf(sendOperatorCommand(path, 'orders.list', {})))).toContain(
      `version ${version} and does not know orders.list`,
    )
    await socket.stop()
  })

  test('a command that was sent and not answered is not run again on the store', async () => {
    const path = join(await temporaryFolder(), 'operator.sock')
    const dying = Bun.listen({
      unix: path,
      socket: { data: (socket) => void socket.terminate() },
    })
    expect(String(await failureOf(sendOperatorCommand(path, 'orders.list', {})))).toContain(
      'check whether it was done',
    )
    dying.stop(true)
  })
})

test('a relay says who it is, and one from a clone makes no room for another version', async () => {
  const relay = await start({ UPGRADE_SECONDS: '7', DRAIN_SECONDS: '2' })
  const environment = { DATA_DIR: relay.dataDir }
  expect(await askRunning(environment)).toEqual({
    ...{ pid: relay.pid, version, ready: true, ready_seconds: 7, stop_seconds: 10 },
  })
  expect(String(await failureOf(handOver(environment)))).toContain('was started from a clone')
  expect((await call(`${relay.url}/ready`)).status).toBe(200)
  await relay.kill('SIGTERM')
  expect(await askRunning(environment)).toBeUndefined()
  expect(String(await failureOf(handOver(environment)))).toContain('no relay runs')
})
