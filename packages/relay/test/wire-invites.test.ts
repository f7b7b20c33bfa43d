// Who may register: relays that take people with an invite, or nobody, seen from outside.
import { afterEach, describe, expect, test } from 'bun:test'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { OperatorError, tellRelay } from '../src/operator.ts'
import { engines } from './engines.ts'
import { expectInvalidField, expectProblem } from './expect.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { onEveryEngine, useRelay } from './use-relay.ts'
import { type Answer, call, post, solve, WireAccount, wireAccount } from './wire.ts'

/** Where a relay has its operator's socket. */
type Operated = Pick<RelayProcess, 'dataDir'>

function make(relay: Operated, more: { uses?: number; days?: number | null; note?: string } = {}) {
  return tellRelay({ DATA_DIR: relay.dataDir }, 'invites.make', { uses: 1, days: 7, note: '', ...more })
}

function list(relay: Operated) {
  return tellRelay({ DATA_DIR: relay.dataDir }, 'invites.list', {})
}

/** Registers somebody new with this invite. */
function comeBy(url: string, invite: string): Promise<Answer> {
  return new WireAccount(url).register('guest', { invite })
}

function expectRefused(answer: Answer, rule: string): void {
  expectProblem(answer, 403, 'INVITE_INVALID', { field: 'invite', detail: `invite ${rule}` })
}

const open = useRelay()
const closed = useRelay({ REGISTRATION: 'closed' })

describe('a relay that is open', () => {
  test('says so, and takes people with any invite or none', async () => {
    expect((await call(`${open.url}/health`)).body.registration).toBe('open')
    expect((await comeBy(open.url, 'whatever')).status).toBe(201)
    const { code } = await make(open.process)
    expect((await comeBy(open.url, code)).status).toBe(201)
    expect(await list(open.process)).toMatchObject([{ used: 0, state: 'open' }])
  })

  test('refuses a code that no invite can have', async () => {
    for (const invite of ['two words', 'x'.repeat(65), 7])
      expectInvalidField(await new WireAccount(open.url).register('guest', { invite }), 'invite')
  })
})

describe('a relay that is closed', () => {
  test('says so, and refuses everybody after the proof of work, with an invite too', async () => {
    expect((await call(`${closed.url}/health`)).body.registration).toBe('closed')
    const { code } = await make(closed.process)
    expectProblem(await new WireAccount(closed.url).register(), 403, 'REGISTRATION_CLOSED')
    expectProblem(await comeBy(closed.url, code), 403, 'REGISTRATION_CLOSED')
    expect(await list(closed.process)).toMatchObject([{ used: 0 }])
  })

  test('refuses a stranger without work as every relay does, so recoveries find out in the same way', async () => {
    const stranger = new WireAccount(closed.url)
    const keys = { ed25519_public_key: stranger.ed25519, x25519_public_key: stranger.x25519 }
    const asked = await post(stranger.api('/register'), { ...keys, nickname: 'recovery' })
    expectProblem(asked, 400, 'POW_REQUIRED')
  })
})

onEveryEngine(
  (relay) => {
    test('nobody comes without an invite, and the refusal uses the proof of work up', async () => {
      expect((await call(`${relay.url}/health`)).body.registration).toBe('invite')
      const guest = new WireAccount(relay.url)
      const { body } = await call(guest.api('/pow/challenge'), { method: 'POST' })
      const challenge: string = body.challenge_string
      const work = { pow_challenge: challenge, pow_nonce: solve(challenge, body.difficulty) }
      const refused = await guest.register('guest', { ...work, invite: '' })
      expectProblem(refused, 403, 'INVITE_REQUIRED')
      expect(refused.body.title).toContain('only with an invite')
      const { code } = await make(relay.process)
      expectProblem(await guest.register('guest', { ...work, invite: code }), 400, 'POW_REQUIRED')
      expectRefused(await comeBy(relay.url, 'never-made'), 'is not one of this relay')
    })

    test('as many people come as the invite says', async () => {
      const { code, invite, link } = await make(relay.process, { uses: 2, note: 'my family' })
      expect(link).toBe(`https://relay.example/#/invite/${code}`)
      expect(invite).toMatchObject({ note: 'my family', made_by: null, uses: 2, used: 0, state: 'open' })
      const first = new WireAccount(relay.url)
      expect((await first.register('guest', { invite: code })).status).toBe(201)
      expect((await comeBy(relay.url, code)).status).toBe(201)
      expectRefused(await comeBy(relay.url, code), 'is used up')
      const listed = (await list(relay.process)).find(({ id }) => id === invite.id)
      expect(listed).toEqual({ ...invite, used: 2, state: 'used_up' })
      // An account that exists is recovered without an invite.
      const again = await first.register('guest')
      expectProblem(again, 409, 'ACCOUNT_EXISTS', { uuid: again.body.uuid, alias_id: again.body.alias_id })
    })

    test('of many people with an invite for one, at the same time, one comes', async () => {
      const { code, invite } = await make(relay.process)
      const answers = await Promise.all(Array.from({ length: 6 }, () => comeBy(relay.url, code)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 403, 403, 403, 403, 403])
      for (const answer of answers.filter(({ status }) => status === 403)) expectRefused(answer, 'is used up')
      expect((await list(relay.process)).find(({ id }) => id === invite.id)?.used).toBe(1)
    })

    test('a registration that fails for another reason uses no invite up', async () => {
      const { code, invite } = await make(relay.process)
      const x25519_public_key = Buffer.alloc(32).toString('base64')
      const refused = await new WireAccount(relay.url).register('guest', { invite: code, x25519_public_key })
      expectInvalidField(refused, 'x25519_public_key')
      const member = new WireAccount(relay.url)
      expect((await member.register('guest', { invite: code })).status).toBe(201)
      expect((await list(relay.process)).find(({ id }) => id === invite.id)?.used).toBe(1)
    })

    test('an invite that was revoked is refused, and one that ended', async () => {
      const [first, second] = [await make(relay.process), await make(relay.process, { days: 1 })]
      const env = { DATA_DIR: relay.process.dataDir }
      const revoked = await tellRelay(env, 'invites.revoke', { id: first.invite.id })
      expect(revoked).toEqual({ ...first.invite, state: 'revoked' })
      expectRefused(await comeBy(relay.url, first.code), 'was revoked')
      const unknown = await failureOf(tellRelay(env, 'invites.revoke', { id: 'nothing' }))
      expect([unknown instanceof OperatorError, String(unknown)]).toEqual([
        true,
        'OperatorError: there is no invite nothing',
      ])
      await relay.process.letPass(86_400_000)
      expectRefused(await comeBy(relay.url, second.code), 'has ended')
      const lasting = await make(relay.process, { days: null })
      expect(lasting.invite.expires_at).toBeNull()
      await relay.process.letPass(4000 * 86_400_000)
      expect((await comeBy(relay.url, lasting.code)).status).toBe(201)
    })
  },
  { REGISTRATION: 'invite', PUBLIC_URL: 'https://relay.example' },
)

onEveryEngine(
  (relay) => {
    test('a member makes as many as the operator allows, also at the same time, and people come by them', async () => {
      const { code } = await make(relay.process)
      const member = new WireAccount(relay.url)
      expect((await member.register('member', { invite: code })).status).toBe(201)
      await member.login()
      expect((await member.get('/invites')).body).toEqual({ invites: [], left: 2 })
      const made = await Promise.all(Array.from({ length: 4 }, () => member.post('/invites', {})))
      expect(made.map(({ status }) => status).toSorted()).toEqual([200, 200, 409, 409])
      for (const answer of made.filter(({ status }) => status === 409))
        expectProblem(answer, 409, 'TOO_MANY_INVITES')
      const [first, second] = made.filter(({ status }) => status === 200).map(({ body }) => body)
      expect((await comeBy(relay.url, first.code)).status).toBe(201)
      expect((await member.bare('DELETE', `/invites/${second.invite_id}`)).status).toBe(200)
      expectRefused(await comeBy(relay.url, second.code), 'was revoked')
      const { body } = await member.get('/invites')
      expect(body.left).toBe(1) // One who came counts for ever; one that nobody used does not.
      // To revoke one by which somebody came gives nothing back.
      expect((await member.bare('DELETE', `/invites/${first.invite_id}`)).status).toBe(200)
      expect((await member.get('/invites')).body.left).toBe(1)
      const states = Object.fromEntries(
        body.invites.map(({ invite_id, state }: Record<string, string>) => [invite_id, state]),
      )
      expect(states).toEqual({ [first.invite_id]: 'used_up', [second.invite_id]: 'revoked' })
      expect(JSON.stringify(body)).not.toContain(first.code)
      const listed = await list(relay.process)
      expect(listed.filter(({ made_by }) => made_by === member.alias)).toHaveLength(2)
    })

    test('nobody comes by an invite of a member who is suspended, until the suspension is lifted', async () => {
      const member = new WireAccount(relay.url)
      await member.register('member', { invite: (await make(relay.process)).code })
      await member.login()
      const { code } = (await member.post('/invites', {})).body
      const tell = (command: 'accounts.suspend' | 'accounts.lift') =>
        tellRelay({ DATA_DIR: relay.process.dataDir }, command, {
          ...{ alias_id: member.alias, who: 'op', why: 'Spam' },
        })
      await tell('accounts.suspend')
      expectRefused(await comeBy(relay.url, code), 'was revoked')
      await tell('accounts.lift')
      expect((await comeBy(relay.url, code)).status).toBe(201)
    })

    test('a member who makes and revokes again and again leaves twenty, and repeating changes nothing', async () => {
      const member = new WireAccount(relay.url)
      await member.register('member', { invite: (await make(relay.process)).code })
      await member.login()
      for (let n = 0; n < 22; n++) {
        const { invite_id } = (await member.post('/invites', {})).body
        expect((await member.bare('DELETE', `/invites/${invite_id}`)).status).toBe(200)
        expect((await member.bare('DELETE', `/invites/${invite_id}`)).status).toBe(200)
      }
      expect((await member.get('/invites')).body).toMatchObject({ left: 2, invites: { length: 20 } })
      const env = { DATA_DIR: relay.process.dataDir }
      expect(await tellRelay(env, 'invites.list', { limit: 3 })).toHaveLength(3)
    })

    test('the invites of an account that is deleted are worth nothing', async () => {
      const member = new WireAccount(relay.url)
      await member.register('member', { invite: (await make(relay.process)).code })
      await member.login()
      const { body } = await member.post('/invites', {})
      expect((await member.bare('DELETE', '/me')).status).toBe(200)
      expectRefused(await comeBy(relay.url, body.code), 'is not one of this relay')
    })
  },
  { REGISTRATION: 'invite', INVITES_BY_MEMBERS: '2' },
)

test('members of a relay that does not say so make no invites', async () => {
  const member = await wireAccount(open.url)
  expect((await member.get('/invites')).body).toEqual({ invites: [], left: 0 })
  expectProblem(await member.post('/invites', {}), 409, 'TOO_MANY_INVITES')
})

describe('guesses', () => {
  const limited = useRelay({ REGISTRATION: 'invite', RATE_LIMITS: 'on', RATE_REGISTER: '3/600' })

  test('of an invite are limited like registrations', async () => {
    for (let guess = 0; guess < 3; guess++)
      expectRefused(await comeBy(limited.url, `guess-${guess}`), 'is not one of this relay')
    const { code } = await make(limited.process)
    expect((await comeBy(limited.url, code)).body).toMatchObject({ error: 'RATE_LIMITED', limit: 'register' })
  })
})

describe('a relay that is killed', () => {
  let running: RelayProcess | undefined
  afterEach(() => running?.stop())

  test.each(engines)('has used an invite exactly as often as people came: $name', async (engine) => {
    const relay = await startRelay({ env: { REGISTRATION: 'invite', ...(await engine.environment()) } })
    running = relay
    const { code } = await make(relay, { uses: 1000 })
    const arrived: WireAccount[] = []
    let isKilled: Promise<unknown> | undefined
    const arrive = async (): Promise<void> => {
      while (!isKilled) {
        const guest = new WireAccount(relay.url)
        const answer = await guest.register('guest', { invite: code }).catch(() => undefined)
        if (answer?.status === 201) arrived.push(guest)
        if (arrived.length >= 12) isKilled ??= relay.kill('SIGKILL')
      }
    }
    await Promise.all(Array.from({ length: 6 }, arrive))
    await isKilled
    await relay.start()
    for (const guest of arrived) expect((await guest.register()).status).toBe(409)
    const { accounts } = await tellRelay({ DATA_DIR: relay.dataDir }, 'status', {})
    expect((await list(relay)).map(({ used }) => used)).toEqual([accounts])
    expect(accounts).toBeGreaterThanOrEqual(arrived.length)
  })
})

test('nothing in the answers about an invite is its code', async () => {
  const { code, link, invite } = await make(open.process, { note: 'once' })
  expect(link).toBeNull()
  expect(JSON.stringify([invite, await list(open.process)])).not.toContain(code)
  await wireAccount(open.url)
})
