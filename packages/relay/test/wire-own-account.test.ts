// An account after its registration, seen from outside: its fields, lookups and deletion.
import { describe, expect, test } from 'bun:test'
import { engines } from './engines.ts'
import { expectInvalidField, expectProblem, FORMS } from './expect.ts'
import { useRelayOn } from './use-relay.ts'
import { befriend, call, message, post, wireAccount, wireFriends } from './wire.ts'

for (const engine of engines) {
  describe(`on ${engine.name}`, () => {
    const relay = useRelayOn(engine)

    describe('the account itself', () => {
      test('GET and PATCH /me return exactly the account’s fields', async () => {
        const account = await wireAccount(relay.url, 'Ada')
        const me = await account.get('/me')
        expect(me.status).toBe(200)
        expect(me.body).toEqual({
          uuid: account.uuid,
          alias_id: account.alias,
          nickname: 'Ada',
          ed25519_public_key: account.ed25519,
          x25519_public_key: account.x25519,
          created_at: expect.stringMatching(FORMS.timestamp),
        })
        const renamed = await call(account.api('/me'), {
          method: 'PATCH',
          headers: account.authorized(),
          body: JSON.stringify({ nickname: 'Ada 🐝 Lovelace', alias_id: 'ada', uuid: 'mine' }),
        })
        expect(renamed.body).toEqual({ ...me.body, nickname: 'Ada 🐝 Lovelace' })
        expect((await account.get('/me')).body).toEqual(renamed.body)
      })

      test('a nickname has 1 to 64 characters (code points) and is not blank', async () => {
        const account = await wireAccount(relay.url)
        const patch = (nickname: unknown) =>
          call(account.api('/me'), {
            method: 'PATCH',
            headers: account.authorized(),
            body: JSON.stringify({ nickname }),
          })
        expect((await patch('𝒜'.repeat(64))).status).toBe(200)
        for (const nickname of [
          '',
          '   ',
          'a'.repeat(65),
          '\u200b\u202e',
          '\ud800',
          null,
          7,
          ['a'],
          {},
          undefined,
        ]) {
          expectInvalidField(await patch(nickname), 'nickname')
        }
        expect((await account.get('/me')).body.nickname).toBe('𝒜'.repeat(64))
      })

      test('a nickname loses control, bidirectional and invisible characters, and keeps what scripts and emoji need', async () => {
        const account = await wireAccount(relay.url, '\u202eA\u0000d\u200ba\u0007')
        expect((await account.get('/me')).body.nickname).toBe('Ada')
        for (const [given, kept] of [
          ['a\nb\u009b', 'a b'],
          ['\u2066Bob\u2069 ', 'Bob'],
          [`\ufeff${'𝒜'.repeat(64)}\u2060`, '𝒜'.repeat(64)],
          ['👩‍👩‍👧 می‌خواهم 🏴󠁧󠁢󠁳󠁣󠁴󠁿', '👩‍👩‍👧 می‌خواهم 🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
        ]) {
          const renamed = await call(account.api('/me'), {
            method: 'PATCH',
            headers: account.authorized(),
            body: JSON.stringify({ nickname: given }),
          })
          expect([renamed.status, renamed.body.nickname]).toEqual([200, kept])
          expect((await account.get(`/users/${account.alias}`)).body.nickname).toBe(kept)
        }
      })

      test('a lookup returns four fields, for another account and for one’s own; an unknown alias answers 404', async () => {
        const [ada, bob] = [await wireAccount(relay.url, 'Ada'), await wireAccount(relay.url, 'Bob')]
        const found = await ada.get(`/users/${bob.alias}`)
        expect(found.status).toBe(200)
        expect(found.body).toEqual({
          alias_id: bob.alias,
          nickname: 'Bob',
          x25519_public_key: bob.x25519,
          ed25519_public_key: bob.ed25519,
        })
        expect((await ada.get(`/users/${ada.alias}`)).body.nickname).toBe('Ada')
        for (const alias of [
          'u00000000',
          'nobody_is_called_this',
          'UPPER',
          'ab',
          'a'.repeat(33),
          '%00',
          'a%20b',
        ]) {
          expectProblem(await ada.get(`/users/${alias}`), 404, 'NOT_FOUND')
        }
      })
    })

    describe('deleting one’s account', () => {
      test('answers 200, sends account_deleted on the connection and closes it with 4401', async () => {
        const account = await wireAccount(relay.url)
        const { socket } = await account.online()
        const answer = await account.bare('DELETE', '/me')
        expect([answer.status, answer.text]).toEqual([200, '{}'])
        expect(await socket.next()).toEqual({ type: 'goaway', reason: 'account_deleted' })
        expect((await socket.closed).code).toBe(4401)
      })

      test('makes its token dead, and its uuid and its alias unknown', async () => {
        const [gone, other] = [await wireAccount(relay.url), await wireAccount(relay.url)]
        const ticket = await gone.ticket()
        const { body } = await post(gone.api('/auth/challenge'), { user_uuid: gone.uuid })
        await gone.bare('DELETE', '/me')
        expectProblem(await gone.get('/me'), 401, 'TOKEN_DEAD')
        expectProblem(await gone.bare('DELETE', '/me'), 401, 'TOKEN_DEAD')
        const login = {
          user_uuid: gone.uuid,
          challenge: body.challenge,
          signature: gone.sign(body.challenge),
        }
        expectProblem(await post(gone.api('/auth/verify'), login), 401, 'SIGNATURE_INVALID')
        expectProblem(await other.get(`/users/${gone.alias}`), 404, 'NOT_FOUND')
        expectProblem(await other.post('/friends/request', { to_alias_id: gone.alias }), 404, 'NOT_FOUND')
        const upgrade = await call(`${relay.url}/ws?user_uuid=${gone.uuid}&ticket=${ticket}`, {
          headers: {
            upgrade: 'websocket',
            connection: 'Upgrade',
            'sec-websocket-version': '13',
            'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
          },
        })
        expectProblem(upgrade, 401, 'TICKET_INVALID')
      })

      test('removes it from its friends’ lists; the same keys can register again and get another uuid and alias', async () => {
        const { alice, bob, conv } = await wireFriends(relay.url)
        const before = { uuid: alice.uuid, alias: alice.alias }
        await alice.bare('DELETE', '/me')
        expect((await bob.get('/friends')).body).toEqual([])
        expect((await bob.get('/conversations/active')).body).toEqual({ conversations: [] })

        expect((await alice.register('again')).status).toBe(201)
        expect(alice.uuid).not.toBe(before.uuid)
        expect(alice.alias).not.toBe(before.alias)
        await alice.login()
        expect((await alice.get('/friends')).body).toEqual([])
        expect(await befriend(bob, alice)).not.toBe(conv)
      })

      test('still delivers the messages it had sent, which can be confirmed; messages to it are refused', async () => {
        const { alice, bob, conv } = await wireFriends(relay.url)
        const { socket } = await alice.online()
        socket.send(message(bob.alias, conv, 'last words', 'last'))
        const ack = await socket.next('ack')
        await alice.bare('DELETE', '/me')
        const { socket: bobs, backlog } = await bob.online()
        expect(backlog).toMatchObject([
          { type: 'msg', id: 'last', from: alice.alias, seq: ack.seq },
          { type: 'sync_end', count: 1 },
        ])
        bobs.send({ type: 'delivered', conv_id: conv, seq: ack.seq, to: alice.alias })
        bobs.send(message(alice.alias, conv, 'too late', 'late'))
        expect(await bobs.next()).toMatchObject({
          type: 'error',
          error: 'NOT_FRIENDS',
          id: 'late',
          conv_id: conv,
        })
        await bobs.close()
        expect((await bob.online()).backlog).toEqual([{ type: 'sync_end', count: 0 }])
      })
    })
  })
}
