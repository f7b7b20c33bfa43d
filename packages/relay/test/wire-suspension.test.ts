// Suspending an account: what it still can do, what is delivered meanwhile, and what its end brings.
import { expect, test } from 'bun:test'
import { type Endpoint, endpoints, suspendedMayCall } from '@sotto/protocol'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { tellRelay } from '../src/operator.ts'
import { expectProblem } from './expect.ts'
import { onEveryEngine, type UsedRelay } from './use-relay.ts'
import { type Answer, befriend, call, message, post, type WireAccount, wireAccount } from './wire.ts'

const WHY = 'Spam in channels'

onEveryEngine((relay) => {
  test('its tokens are dead at once, its connection closes and says why, and nobody else notices', async () => {
    const [account, other] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    const { socket } = await account.online()
    const others = await other.online()
    const line = await suspend(relay, account)
    expect(line).toMatchObject({ alias_id: account.alias, suspended: { reason: WHY, until: null } })
    expect(await socket.next()).toEqual({ type: 'error', error: 'ACCOUNT_SUSPENDED', message: WHY })
    expect(await socket.next()).toEqual({ type: 'goaway', reason: 'jwt_revoked' })
    expect((await socket.closed).code).toBe(4401)
    expectProblem(await account.get('/me'), 401, 'TOKEN_DEAD')
    expectProblem(await logIn(account), 403, 'ACCOUNT_SUSPENDED', { detail: WHY })
    expect((await logIn(other)).status).toBe(200)
    expect(await others.socket.untilPong()).toEqual([])
    expectProblem(await account.register(), 409, 'ACCOUNT_EXISTS', {
      uuid: account.uuid,
      alias_id: account.alias,
    })
    await tell(relay, 'accounts.lift', account)
    await account.login()
    expect((await account.online()).backlog).toEqual([{ type: 'sync_end', count: 0 }])
  })

  test('a limited login reads and deletes what the account has, and nothing else', async () => {
    const account = await wireAccount(relay.url)
    const channel = (await account.post('/channels', { name: 'mine' })).body.channel_id
    await suspend(relay, account)
    account.token = (await logIn(account, { limited: true })).body.token
    for (const [name, endpoint] of Object.entries<Endpoint>(endpoints)) {
      const may: readonly string[] = suspendedMayCall
      if (endpoint.auth === 'none' || may.includes(name)) continue
      const path = endpoint.path.replaceAll(/\{\w+\}/g, 'x')
      const answer = await account.bare(endpoint.method, path)
      expect([name, answer.status, answer.body?.error]).toEqual([name, 403, 'ACCOUNT_SUSPENDED'])
    }
    const refused = await call(`${account.wsUrl().replace('ws', 'http')}?token=${account.token}`, {
      headers: {
        upgrade: 'websocket',
        connection: 'upgrade',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      },
    })
    expectProblem(refused, 403, 'ACCOUNT_SUSPENDED', { detail: WHY })
    for (const path of ['/me', '/friends', '/blocks', '/channels/mine', `/channels/${channel}/posts`])
      expect([path, (await account.get(path)).status]).toEqual([path, 200])
    expect((await account.bare('DELETE', `/channels/${channel}`)).status).toBe(200)
    expect((await account.bare('DELETE', '/me')).status).toBe(200)
    expectProblem(await logIn(account, { limited: true }), 401, 'SIGNATURE_INVALID')
  })

  test('nothing that it sent is delivered, what others sent waits, and both arrive when it is lifted', async () => {
    const [alice, bob, carol] = [
      await wireAccount(relay.url),
      await wireAccount(relay.url),
      await wireAccount(relay.url),
    ]
    const [conv, other] = [await befriend(alice, bob), await befriend(carol, bob)]
    const [alices, carols] = [(await alice.online()).socket, (await carol.online()).socket]
    for (const id of ['a1', 'a2', 'a3']) alices.send(message(bob.alias, conv, id, id))
    await alices.take(3, 'ack')
    await suspend(relay, alice)
    carols.send(message(bob.alias, other, 'c1', 'c1'))
    await carols.next('ack')
    const { socket: bobs, backlog } = await bob.online()
    expect(idsOf(backlog)).toEqual(['c1'])
    carols.send(message(bob.alias, other, 'c2', 'c2'))
    expect(await bobs.next()).toMatchObject({ id: 'c2' })
    bobs.send(message(alice.alias, conv, 'b1', 'b1'))
    expect(await bobs.next('ack')).toMatchObject({ id: 'b1' })
    await tell(relay, 'accounts.lift', alice)
    expect(idsOf(await bobs.take(3, 'msg'))).toEqual(['a1', 'a2', 'a3'])
    carols.send(message(bob.alias, other, 'c3', 'c3'))
    expect(await bobs.next('msg')).toMatchObject({ id: 'c3' })
    await alice.login()
    expect(idsOf((await alice.online()).backlog)).toEqual(['b1'])
  })

  test('what it takes back is taken back, and does not take what waits with it', async () => {
    const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    const conv = await befriend(alice, bob)
    const alices = (await alice.online()).socket
    alices.send(message(bob.alias, conv, 'a1', 'a1'))
    await alices.next('ack')
    const first = await bob.online()
    expect(idsOf(first.backlog)).toEqual(['a1'])
    first.socket.send({ type: 'delivered', conv_id: conv, seq: 1, to: alice.alias })
    await alices.next('delivered')
    await first.socket.close()
    alices.send(message(bob.alias, conv, 'a2', 'a2'))
    alices.send({ type: 'retract', id: 'a1', conv_id: conv, to: bob.alias })
    await alices.next('retract_ack')
    await suspend(relay, alice)
    const { socket, backlog } = await bob.online()
    expect(backlog.map(({ type, id }) => `${type} ${id}`)).toEqual(['retract a1', 'sync_end undefined'])
    await tell(relay, 'accounts.lift', alice)
    expect(await socket.next('msg')).toMatchObject({ id: 'a2' })
  })

  test('every deed is recorded with who and why, and refusals leave nothing', async () => {
    const account = await wireAccount(relay.url, 'Nick_%name')
    const { socket } = await account.online()
    await tell(relay, 'accounts.log-out', account)
    await suspend(relay, account)
    await tell(relay, 'accounts.lift', account)
    const found = await ask(relay, 'accounts.find', { text: 'nick_%' })
    expect(found.map(({ alias_id }) => alias_id)).toEqual([account.alias])
    const refusals: [Parameters<typeof tellRelay>[1], object, string][] = [
      ['accounts.lift', { alias_id: account.alias, who: 'op' }, `${account.alias} is not suspended`],
      ['accounts.suspend', { alias_id: account.alias, who: 'op' }, 'why'],
      ['accounts.suspend', { alias_id: account.alias, who: 'op', why: ' ' }, 'why: is missing'],
      ['accounts.delete', { alias_id: account.alias, who: 'op' }, 'why'],
      ['accounts.show', { alias_id: 'nobody_at_all' }, 'no account has the alias nobody_at_all'],
      [
        'accounts.suspend',
        { alias_id: account.alias, who: 'op', why: WHY, until: '2020-01-01T00:00:00.000Z' },
        'over',
      ],
    ]
    for (const [command, input, said] of refusals)
      expect(String(await failureOf(ask(relay, command, input)))).toContain(said)
    const detail = await ask(relay, 'accounts.show', { alias_id: account.alias })
    expect(detail).toMatchObject({ uuid: account.uuid, friends: 0, messages_waiting: 0, suspended: null })
    await account.login()
    const again = await account.online()
    await tell(relay, 'accounts.delete', account)
    expect(await again.socket.next()).toEqual({ type: 'goaway', reason: 'account_deleted' })
    const deeds = await ask(relay, 'deeds.list', { object: account.alias })
    expect(deeds.map(({ what, who, why }) => [what, who, why])).toEqual(
      ['delete', 'lift', 'suspend', 'log-out'].map((what) => [`accounts.${what}`, 'op', WHY]),
    )
    expect((await socket.closed).code).toBe(4401)
  })

  test('it ends by itself, and not before', async () => {
    const [alice, bob] = [await wireAccount(relay.url), await wireAccount(relay.url)]
    const conv = await befriend(alice, bob)
    const alices = (await alice.online()).socket
    alices.send(message(bob.alias, conv, 'a1', 'a1'))
    await alices.next('ack')
    const { socket: bobs } = await (async () => {
      const until = new Date((await relay.process.letPass(0)) + 3_600_000).toISOString()
      await ask(relay, 'accounts.suspend', { alias_id: alice.alias, who: 'op', why: WHY, until })
      expectProblem(await logIn(alice), 403, 'ACCOUNT_SUSPENDED', {
        detail: `${WHY} (until ${until.slice(0, 16)}Z)`,
      })
      return await bob.online()
    })()
    await relay.process.letPass(3_500_000)
    await relay.process.maintain()
    expect((await logIn(alice)).status).toBe(403)
    // What it had sent is delivered in the moment from which it can log in.
    await relay.process.letPass(100_000)
    const arrived = bobs.next('msg')
    let isOver = false
    void arrived.then(
      () => (isOver = true),
      () => (isOver = true),
    )
    // Again and again, because a pass is skipped while another one runs.
    for (; !isOver; await Bun.sleep(50)) await relay.process.maintain()
    expect(await arrived).toMatchObject({ id: 'a1' })
    expect((await logIn(alice)).status).toBe(200)
  })
})

type Command = Parameters<typeof tellRelay>[1]

function ask<Name extends Command>(relay: UsedRelay, command: Name, input: object) {
  return tellRelay({ DATA_DIR: relay.process.dataDir }, command, input)
}

function tell<Name extends Command>(relay: UsedRelay, command: Name, { alias: alias_id }: WireAccount) {
  return ask(relay, command, { alias_id, who: 'op', why: WHY })
}

function suspend(relay: UsedRelay, account: WireAccount) {
  return tell(relay, 'accounts.suspend', account)
}

async function logIn(account: WireAccount, more: object = {}): Promise<Answer> {
  const { body } = await post(account.api('/auth/challenge'), { user_uuid: account.uuid })
  const signature = account.sign(body.challenge)
  return post(account.api('/auth/verify'), {
    user_uuid: account.uuid,
    challenge: body.challenge,
    signature,
    ...more,
  })
}

function idsOf(frames: readonly { type: string; id: string }[]): string[] {
  return frames.filter(({ type }) => type === 'msg').map(({ id }) => id)
}
