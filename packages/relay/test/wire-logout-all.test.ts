// Logging out everywhere: every token, ticket and WebSocket of an account is dead at once, and of no other.
import { expect, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { OperatorError, tellRelay } from '../src/operator.ts'
import { expectProblem } from './expect.ts'
import { onEveryEngine } from './use-relay.ts'
import { call, type WireAccount, WireSocket, wireAccount } from './wire.ts'

/** The states of an account's tokens, asked by HTTP. */
async function statusOf(account: WireAccount, tokens: readonly string[]): Promise<number[]> {
  const ask = (token: string) =>
    call(account.api('/me'), { headers: { authorization: `Bearer ${token}` } }).then(({ status }) => status)
  return await Promise.all(tokens.map(ask))
}

async function expectLoggedOut(socket: WireSocket): Promise<void> {
  expect(await socket.next()).toEqual({ type: 'goaway', reason: 'jwt_revoked' })
  expect((await socket.closed).code).toBe(4401)
}

onEveryEngine((relay) => {
  test('every token, ticket and WebSocket of the account is dead at once', async () => {
    const [account, other] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    const tokens = [account.token, await account.login(), await account.login()]
    const { socket } = await account.online()
    const others = await other.online()
    const ticket = await account.ticket()
    const answer = await account.bare('POST', '/auth/logout-all')
    expect([answer.status, answer.text]).toEqual([200, '{}'])
    await expectLoggedOut(socket)
    expect(await statusOf(account, tokens)).toEqual([401, 401, 401])
    expectProblem(await account.bare('POST', '/ws/ticket'), 401, 'TOKEN_DEAD')
    // Published clients log in again when an open WebSocket tells them to.
    for (const query of [`token=${tokens[0]}`, `token=${tokens[2]}`, `ticket=${ticket}`])
      await expectLoggedOut(await WireSocket.open(`${account.wsUrl()}?user_uuid=${account.uuid}&${query}`))
    expect(await others.socket.untilPong()).toEqual([])
    expect((await other.get('/me')).status).toBe(200)
  })

  test('the account can log in again at once, and again after each time', async () => {
    const account = await wireAccount(relay.url)
    const dead: string[] = []
    for (let time = 1; time <= 3; time++) {
      dead.push(account.token)
      expect((await account.bare('POST', '/auth/logout-all')).status).toBe(200)
      await account.login()
      expect(await statusOf(account, [account.token, ...dead])).toEqual([200, ...dead.map(() => 401)])
      const { socket } = await account.online()
      expect(await socket.untilPong()).toEqual([])
      await socket.close()
    }
    expectProblem(await call(account.api('/auth/logout-all'), { method: 'POST' }), 401, 'UNAUTHENTICATED')
  })

  test('a login and an upgrade that run meanwhile leave nothing alive that began before', async () => {
    const account = await wireAccount(relay.url)
    for (let round = 0; round < 5; round++) {
      const old = account.token
      const tickets = await Promise.all([account.ticket(), account.ticket()])
      const open = (ticket: string) =>
        WireSocket.open(`${account.wsUrl()}?user_uuid=${account.uuid}&ticket=${ticket}`)
      const [first, , second] = await Promise.all([
        open(tickets[0] ?? ''),
        account.bare('POST', '/auth/logout-all'),
        open(tickets[1] ?? ''),
      ])
      for (const socket of [first, second]) expect((await socket.closed).code).not.toBe(1000)
      expect(await statusOf(account, [old])).toEqual([401])
      await account.login()
    }
  })

  test('the operator logs an account out by any of its aliases', async () => {
    const account = await wireAccount(relay.url)
    const { socket } = await account.online()
    const env = { DATA_DIR: relay.process.dataDir }
    const said = await tellRelay(env, 'accounts.log-out', { alias_id: account.alias })
    expect(said).toEqual({ alias_id: account.alias })
    await expectLoggedOut(socket)
    expectProblem(await account.get('/me'), 401, 'TOKEN_DEAD')
    await account.login()
    expect((await account.get('/me')).status).toBe(200)
    const unknown = await failureOf(tellRelay(env, 'accounts.log-out', { alias_id: 'nobody_at_all' }))
    expect(unknown).toBeInstanceOf(OperatorError)
    expect(String(unknown)).toContain('no account has the alias nobody_at_all')
  })
})
