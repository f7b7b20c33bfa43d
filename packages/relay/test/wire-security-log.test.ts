// The security log of a real relay: what it has, and whom it never names.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { tellRelay } from '../src/operator.ts'
import { engines } from './engines.ts'
import { expectProblem } from './expect.ts'
import { eventually } from './payment-watch.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { message, post, wireAccount, wireFriends } from './wire.ts'

setDefaultTimeout(240_000)
type Line = Readonly<Record<string, unknown>>

for (const engine of engines) {
  describe(`on ${engine.name}`, () => {
    let folder = ''
    let environment: Record<string, string> = {}
    let relay: RelayProcess
    const file = (): string => join(folder, 'security.log')
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sotto-security-log-'))
      environment = {
        ...(await engine.environment()),
        ...{ SECURITY_LOG: file(), DATA_DIR: join(folder, 'data') },
        ...{ RATE_LIMITS: 'on', RATE_LOOKUP: '1/1000000', RATE_MESSAGE: '1/3', LIMIT_UNLISTED_SECONDS: '0' },
      }
      relay = await startRelay({ env: environment })
    })
    afterAll(async () => {
      await relay?.stop()
      await rm(folder, { recursive: true, force: true })
    })

    async function lines(event: string): Promise<Line[]> {
      const all = (await readFile(file(), 'utf8')).split('\n').filter((line) => line !== '')
      return all.map((line): Line => JSON.parse(line)).filter((line) => line.event === event)
    }

    test('it has logins and failed ones, by account and address, and names neither', async () => {
      const before = (await lines('login')).length
      const alice = await wireAccount(relay.url)
      const { body } = await post(alice.api('/auth/challenge'), { user_uuid: alice.uuid })
      const { challenge } = body
      const verify = (signature: string) =>
        post(alice.api('/auth/verify'), { user_uuid: alice.uuid, challenge, signature })
      expectProblem(await verify(alice.sign('something else')), 401, 'SIGNATURE_INVALID')
      expect((await verify(alice.sign(challenge))).status).toBe(200)
      expectProblem(await verify(alice.sign(challenge)), 401, 'CHALLENGE_INVALID')

      const [login] = (await lines('login')).slice(before)
      const known = { address: login?.address, account: login?.account }
      expect(Object.values(known)).toEqual([expect.any(String), expect.any(String)])
      expect(await lines('login_failed')).toMatchObject([
        { reason: 'SIGNATURE_INVALID', ...known },
        { reason: 'CHALLENGE_INVALID', ...known },
      ])
      const text = await readFile(file(), 'utf8')
      for (const secret of [alice.uuid, alice.alias, alice.token, challenge, '127.0.0.1'])
        expect(text).not.toContain(secret)
    })

    test('it has who reached which rate, once for many times', async () => {
      const { alice, bob, conv } = await wireFriends(relay.url)
      const { socket } = await alice.online()
      for (let n = 0; n < 2; n++) socket.send(message(bob.alias, conv, 'x'))
      await socket.take(2, 'ack')
      for (let n = 0; n < 5; n++) await alice.get(`/users/${bob.alias}`)
      const reached = async (rate: string) =>
        (await lines('rate_reached')).filter((line) => line.rate === rate)
      expect((await reached('message'))[0]).toHaveProperty('account')
      const [first, ...others] = await reached('lookup')
      expect(first).toHaveProperty('address')
      expect(others.length).toBeLessThan(3)
      // A minute may end at any time, and the times are counted for each.
      await eventually(async () => {
        await relay.maintain()
        const times = (await reached('lookup')).map(({ repeated = 1 }) => Number(repeated))
        expect(times.reduce((sum, count) => sum + count, 0)).toBe(4)
      })
      await socket.close()
    })

    test('it has each command of an operator with its outcome, also if no relay runs', async () => {
      const { alias } = await wireAccount(relay.url)
      await tellRelay(environment, 'accounts.log-out', { alias_id: alias })
      await failureOf(tellRelay(environment, 'accounts.log-out', { alias_id: 'nobody_at_all' }))
      const order = { order_id: `ord_${'x'.repeat(24)}`, who: 'ada', why: 'paid' }
      await failureOf(tellRelay(environment, 'orders.confirm', order))
      await relay.kill('SIGTERM')
      await failureOf(tellRelay(environment, 'accounts.log-out', { alias_id: 'nobody_at_all' }))
      const [command, event] = ['accounts.log-out', 'operator_command']
      expect((await lines(event)).map(({ time, ...line }) => line)).toEqual([
        { event, command, outcome: 'done' },
        { event, command, outcome: 'refused' },
        { event, command: 'orders.confirm', outcome: 'refused', by: 'ada' },
        { event, command, outcome: 'refused' },
      ])
      expect(await readFile(file(), 'utf8')).not.toContain(alias)
      await relay.start()
    })
  })
}
