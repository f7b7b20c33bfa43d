// Habits of published clients that a relay must bear with, one by one. `wire-older-clients.test.ts` plays
// those about marks and first messages together.
import { describe, expect, test } from 'bun:test'
import { signal, textsOf } from './call-frames.ts'
import { engines } from './engines.ts'
import { expectProblem } from './expect.ts'
import { useRelayOn } from './use-relay.ts'
import { call, message, post, solve, WireAccount, wireFriends } from './wire.ts'

for (const engine of engines) {
  describe(`on ${engine.name}`, () => {
    const relay = useRelayOn(engine)

    test('registers with a nonce and no challenge, and recovers by the same request with an empty nonce', async () => {
      const account = new WireAccount(relay.url)
      const keys = {
        ed25519_public_key: account.ed25519,
        x25519_public_key: account.x25519,
        nickname: 'older',
      }
      const register = (pow_nonce: string) => post(account.api('/register'), { ...keys, pow_nonce })
      // It asks whether the key is known before it works for a new account.
      expectProblem(await register(''), 400, 'POW_REQUIRED')
      const { body } = await call(account.api('/pow/challenge'), { method: 'POST' })
      const registered = await register(solve(body.challenge_string, body.difficulty))
      expect(registered.status).toBe(201)
      const { uuid, alias_id } = registered.body
      expectProblem(await register(''), 409, 'ACCOUNT_EXISTS', { uuid, alias_id })
    })

    test('stops after a goaway: the device that replaced it gets everything, also what the first did not confirm', async () => {
      const { alice, bob, conv } = await wireFriends(relay.url)
      const [{ socket: sender }, { socket: older }] = [await alice.online(), await bob.online()]
      sender.send(message(bob.alias, conv, 'unconfirmed', 'one'))
      await older.next('msg')
      await bob.login()
      const { socket: newer, backlog } = await bob.online()
      expect(backlog.map(({ id, type }) => id ?? type)).toEqual(['one', 'sync_end'])
      expect(await older.next()).toEqual({ type: 'goaway', reason: 'new_device_login' })
      expect((await older.closed).code).toBe(4409)
      for (const id of ['two', 'three']) sender.send(message(bob.alias, conv, id, id))
      expect((await newer.take(2, 'msg')).map(({ id }) => id)).toEqual(['two', 'three'])
      newer.send({ type: 'read', conv_id: conv, seq: 3, to: alice.alias })
      expect(await sender.next('read')).toMatchObject({ seq: 3 })
    })

    test('sends a candidate as a nested object, which the friend gets unchanged', async () => {
      const { alice, bob } = await wireFriends(relay.url)
      const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
      const texts = textsOf(bobs)
      const candidate = {
        candidate: 'candidate:1 1 udp 2122 192.0.2.1 5000 typ host',
        sdpMid: '0',
        sdpMLineIndex: 0,
      }
      const frame = JSON.stringify(signal('call_ice', [alice, bob], { candidate }))
      alices.send(frame)
      expect(await bobs.next('call_ice')).toMatchObject({ candidate })
      expect(texts).toEqual([frame])
    })

    const brief = useRelayOn(engine, { LIMIT_TOKEN_SECONDS: '60' })

    test('renews a token only a few times: an open connection outlives its token, and one renewal serves everything', async () => {
      const { alice, bob, conv } = await wireFriends(brief.url)
      const [{ socket: alices }, { socket: bobs }] = [await alice.online(), await bob.online()]
      for (let life = 1; life <= 5; life++) {
        await brief.process.letPass(61_000)
        alices.send(message(bob.alias, conv, 'still here', `m${life}`))
        expect(await bobs.next()).toMatchObject({ type: 'msg', seq: life })
        bobs.send({ type: 'read', conv_id: conv, seq: life, to: alice.alias })
        await alices.next('read')
      }
      const requests = () =>
        Promise.all([bob.get('/me'), bob.get('/friends'), bob.bare('POST', '/ws/ticket')])
      for (const answer of await requests()) expectProblem(answer, 401, 'TOKEN_DEAD')
      const refused = await bob.connectByToken()
      expect(await refused.next()).toEqual({ type: 'goaway', reason: 'jwt_revoked' })
      expect((await refused.closed).code).toBe(4401)
      await bob.login()
      expect((await requests()).map(({ status }) => status)).toEqual([200, 200, 200])
      const { backlog } = await bob.online()
      expect(backlog).toEqual([{ type: 'sync_end', count: 0 }])
    })

    const rated = useRelayOn(engine, { RATE_LIMITS: 'on' })

    test('sends 500 messages again at once after a long absence: all are acknowledged within the rates, and then marked', async () => {
      const { alice, bob, conv } = await wireFriends(rated.url)
      const { socket: first } = await alice.online()
      const ids = Array.from({ length: 500 }, (_, n) => `m${n}`)
      for (const id of ids) first.send(message(bob.alias, conv, id, id))
      const acks = await first.take(500, 'ack')
      const { socket: bobs } = await bob.online()
      bobs.send({ type: 'read', conv_id: conv, seq: 500, to: alice.alias })
      await first.next('read')
      // After a restart the rates allow a burst again, as after an absence.
      expect(await rated.process.kill('SIGTERM')).toBe(0)
      await rated.process.start()
      const again = await alice.connectByToken()
      again.send({ type: 'sync', crypto_v: 1 })
      for (const id of ids) again.send(message(bob.alias, conv, `anew ${id}`, id))
      const seen = []
      do seen.push(await again.next())
      while (seen.filter(({ type }) => type === 'ack').length < 500 || seen.at(-1).type !== 'read')
      expect(seen.filter(({ type }) => type === 'ack')).toEqual(acks)
      expect(seen.at(-1)).toMatchObject({ type: 'read', seq: 500 })
      const { backlog } = await bob.online()
      expect(backlog).toEqual([{ type: 'sync_end', count: 0 }])
    })
  })
}
