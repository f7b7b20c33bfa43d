// The operator's door: who can open it, what is served there, and what becomes of it when relays come and go.
import { afterEach, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, lstatSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Log } from '../src/operations/log.ts'
import { type OperatorCommand, OperatorRefusal } from '../src/operations/operator-command.ts'
import { knock, operatorDoorOf, startOperatorDoor } from '../src/operations/operator-door.ts'
import { tellRelay } from '../src/operator.ts'
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
  const folder = await mkdtemp(join(tmpdir(), 'sotto-door-'))
  endings.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function start(env: Record<string, string> = {}): Promise<RelayProcess> {
  const relay = await startRelay({ env })
  endings.push(() => relay.stop())
  return relay
}

/** What comes back through the door. */
async function send(path: string, target: string, init: RequestInit = {}) {
  const response = await fetch(`http://relay/${target}`, { unix: path, method: 'POST', body: '{}', ...init })
  return { status: response.status, text: await response.text() }
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777
}

/** The relay has said once that it has no door. What it says comes by another pipe than that it listens. */
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
  test('the socket and the folder made for it are for their own user alone, whatever the umask', async () => {
    const dataDir = join(await temporaryFolder(), 'made', 'by the relay')
    const umask = process.umask(0)
    await start({ DATA_DIR: dataDir }).finally(() => process.umask(umask))
    expect(lstatSync(operatorDoorOf(dataDir)).isSocket()).toBe(true)
    expect(modeOf(operatorDoorOf(dataDir))).toBe(0o600)
    expect(modeOf(dataDir)).toBe(0o700)
  })

  // Nobody but root can become somebody else to try.
  if (process.getuid?.() === 0) {
    test('another user cannot, even in a folder open to all', async () => {
      const relay = await start()
      chmodSync(relay.dataDir, 0o777)
      const path = operatorDoorOf(relay.dataDir)
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

  test('clients cannot: their port does not lead to it', async () => {
    const relay = await start()
    for (const path of ['/orders.list', '/operator.sock/orders.list', '/api/v1/orders.list'])
      expect((await call(`${relay.url}${path}`, { method: 'POST', body: '{}' })).status).toBe(404)
  })
})

describe('what is served there', () => {
  test('commands, answered with the version; what is refused is said in words', async () => {
    const relay = await start()
    const path = operatorDoorOf(relay.dataDir)
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

  test('nothing else: no other path or method, no body that is no object, none above 64 KiB', async () => {
    const relay = await start()
    const path = operatorDoorOf(relay.dataDir)
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

describe('when relays come and go', () => {
  test('one that is stopped takes its door with it; the door of one that was killed is replaced', async () => {
    const relay = await start()
    const path = operatorDoorOf(relay.dataDir)
    await relay.kill('SIGKILL')
    expect(existsSync(path)).toBe(true)
    expect(await knock(path, 'orders.list', {})).toBeUndefined()
    await relay.start()
    expect(await knock(path, 'orders.list', {})).toEqual({ answer: [] })
    expect(modeOf(path)).toBe(0o600)
    expect(await relay.kill('SIGTERM')).toBe(0)
    expect(existsSync(path)).toBe(false)
    expect(await knock(path, 'orders.list', {})).toBeUndefined()
  })

  test('a door that answers is not taken from whoever has it', async () => {
    const [, postgres] = engines
    const env = await postgres?.environment()
    const first = await start(env)
    const second = await start({ ...env, DATA_DIR: first.dataDir })
    await expectWarned(second)
    expect(errorLines(second.errors())).toEqual([])
    await second.kill('SIGTERM')
    expect(await knock(operatorDoorOf(first.dataDir), 'orders.list', {})).toEqual({ answer: [] })
    expect(warnings(first)).toEqual([])
  })

  test('a relay does without where no socket can be, says so once, and commands are done on its store', async () => {
    const dataDir = await temporaryFolder()
    const path = operatorDoorOf(dataDir)
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

  test('a folder whose path is longer than a socket’s may be is served all the same', async () => {
    const dataDir = join(await temporaryFolder(), 'd'.repeat(200))
    const relay = await start({ DATA_DIR: dataDir })
    expect(await tellRelay({ DATA_DIR: dataDir }, 'orders.list', {})).toEqual([])
    expect(errorLines(relay.errors())).toEqual([])
    expect(await relay.kill('SIGTERM')).toBe(0)
  })

  test('with PostgreSQL the folder is made for it, and a relay that cannot make one does without', async () => {
    const [, postgres] = engines
    const env = await postgres?.environment()
    const folder = await temporaryFolder()
    const made = await start({ ...env, DATA_DIR: join(folder, 'data') })
    expect(warnings(made)).toEqual([])
    expect(modeOf(join(folder, 'data'))).toBe(0o700)
    expect(await knock(operatorDoorOf(join(folder, 'data')), 'orders.list', {})).toEqual({ answer: [] })

    await Bun.write(join(folder, 'file'), '')
    const nowhere = { ...env, DATA_DIR: join(folder, 'file', 'data'), MEDIA_DIR: join(folder, 'media') }
    const without = await start(nowhere)
    await expectWarned(without)
    expect(await tellRelay(nowhere, 'orders.list', {})).toEqual([])
  })
})

describe('a door by itself', () => {
  async function open(commands: Record<string, OperatorCommand>, name = 'operator.sock') {
    const path = join(await temporaryFolder(), name)
    const events: string[] = []
    const note = (event: string): void => {
      events.push(event)
    }
    const log: Log = { error: note, warn: note, info: note, debug: note }
    return { path, events, door: await startOperatorDoor({ path, commands, log }) }
  }

  test('what fails is a bug: logged, and told without its words', async () => {
    const { path, events, door } = await open({
      fail: async () => {
        throw new Error('no such table: secrets')
      },
    })
    const said = await send(path, 'fail')
    expect(said.status).toBe(500)
    expect(said.text).not.toContain('secrets')
    await expect(knock(path, 'fail', {})).rejects.toBeInstanceOf(OperatorRefusal)
    expect(events).toEqual(['operator_command_failed', 'operator_command_failed'])
    await door.stop()
  })

  test('a path that no socket can have is a warning, and nobody is there', async () => {
    const { path, events, door } = await open({ list: async () => [] }, 'x'.repeat(150))
    expect(events).toEqual(['operator_door_missing'])
    expect(await knock(path, 'list', {})).toBeUndefined()
    await door.stop()
  })

  test('stopping waits for what is under way, and takes no more', async () => {
    const begun = Promise.withResolvers<void>()
    const wait = Promise.withResolvers<void>()
    const { path, door } = await open({
      slow: async () => {
        begun.resolve()
        await wait.promise
        return 'done'
      },
    })
    const answer = knock(path, 'slow', {})
    await begun.promise
    let isStopped = false
    const stopping = door.stop().then(() => {
      isStopped = true
    })
    expect(await knock(path, 'slow', {})).toBeUndefined()
    await Bun.sleep(50)
    expect(isStopped).toBe(false)
    wait.resolve()
    expect(await answer).toEqual({ answer: 'done' })
    await stopping
  })

  test('a relay of another version that does not know a command says which it is', async () => {
    const { path, door } = await open({})
    await expect(knock(path, 'orders.list', {})).rejects.toThrow(
      `version ${version} and does not know orders.list`,
    )
    await door.stop()
  })

  test('a command that was taken and not answered is not done a second time elsewhere', async () => {
    const path = join(await temporaryFolder(), 'operator.sock')
    const dying = Bun.listen({
      unix: path,
      socket: { data: (socket) => void socket.terminate() },
    })
    await expect(knock(path, 'orders.list', {})).rejects.toThrow('look whether it was done')
    dying.stop(true)
  })
})
