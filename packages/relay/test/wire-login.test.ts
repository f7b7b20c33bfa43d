// Login, tokens, tickets and logout, seen from outside, and attacks on each.
import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { engines } from './engines.ts'
import { expectFields, expectInvalidField, expectProblem, FORMS } from './expect.ts'
import { rawHttp, requestOf, UPGRADE } from './raw.ts'
import { untilLogged } from './until-logged.ts'
import { useRelayOn } from './use-relay.ts'
import { type Answer, call, post, WireAccount, WireSocket, wireAccount } from './wire.ts'

for (const engine of engines) {
  describe(`on ${engine.name}`, () => {
    const relay = useRelayOn(engine)
    const named = useRelayOn(engine, { PUBLIC_URL: 'https://relay.example' })
    const unbound = useRelayOn(engine, { UNBOUND_LOGIN: 'allow' })

    async function challengeFor(uuid: string, url = relay.url): Promise<string> {
      return (await post(`${url}/api/v1/auth/challenge`, { user_uuid: uuid })).body.challenge
    }

    function verify(
      account: WireAccount,
      challenge: string,
      more: Record<string, unknown> = {},
    ): Promise<Answer> {
      const login = { user_uuid: account.uuid, challenge, signature: account.sign(challenge) }
      return post(account.api('/auth/verify'), { ...login, ...more })
    }

    /** Asks an endpoint of logins, with this Host header. */
    function askAs(url: string, host: string, path: string, body: Record<string, unknown>) {
      const text = JSON.stringify(body)
      const headers = { host, 'content-length': String(Buffer.byteLength(text)) }
      return rawHttp(url, requestOf(`POST /api/v1/auth/${path}`, headers) + text)
    }

    describe('a login challenge', () => {
      test('names the relay’s host and the account; the answer has only the field `challenge`', async () => {
        const account = await wireAccount(relay.url)
        const answer = await post(account.api('/auth/challenge'), {
          user_uuid: account.uuid,
          platform: 'web',
        })
        expectFields(answer.body, ['challenge'])
        const [version, host, port, uuid, nonce] = answer.body.challenge.split(':')
        expect([version, `${host}:${port}`, uuid]).toEqual([
          'relay-auth-v1',
          new URL(relay.url).host,
          account.uuid,
        ])
        expect(nonce).toMatch(/^[\w-]{43}$/)
      })

      test('names the host of PUBLIC_URL, not the Host of the request', async () => {
        const account = new WireAccount(named.url)
        await account.register()
        const challenge = await challengeFor(account.uuid, named.url)
        expect(challenge).toStartWith(`relay-auth-v1:relay.example:${account.uuid}:`)
        expect((await verify(account, challenge)).status).toBe(200)
      })

      test('requested under one host name does not log in under another', async () => {
        const account = await wireAccount(unbound.url)
        const asked = await askAs(unbound.url, 'a.example', 'challenge', { user_uuid: account.uuid })
        const { challenge } = JSON.parse(asked.body)
        expect(challenge).toContain(':a.example:')
        const login = { user_uuid: account.uuid, challenge, signature: account.sign(challenge) }
        expect((await askAs(unbound.url, 'b.example', 'verify', login)).status).toBe(401)
        expect((await askAs(unbound.url, 'a.example', 'verify', login)).status).toBe(200)
      })

      test('is bound to a host by default: a relay on loopback takes only loopback names', async () => {
        const account = await wireAccount(relay.url)
        const names = ['localhost', 'LOCALHOST:80', '127.0.0.1', '127.8.9.10:65535', '[::1]', '[::1]:8080']
        for (const host of names) {
          const asked = await askAs(relay.url, host, 'challenge', { user_uuid: account.uuid })
          const { challenge } = JSON.parse(asked.body)
          expect(challenge).toStartWith(`relay-auth-v1:${host.toLowerCase()}:${account.uuid}:`)
          const login = { user_uuid: account.uuid, challenge, signature: account.sign(challenge) }
          expect((await askAs(relay.url, host, 'verify', login)).status).toBe(200)
        }
        const challenge = await challengeFor(account.uuid)
        const login = { user_uuid: account.uuid, challenge, signature: account.sign(challenge) }
        const others = ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'evil-localhost']
        for (const host of [
          ...others,
          '128.0.0.1',
          '[::2]',
          'local_host:99',
          'a%b',
          'localhost:',
          '127.0.0.1:x',
        ]) {
          for (const [path, body] of [
            ['challenge', { user_uuid: account.uuid }],
            ['verify', login],
          ] as const) {
            const refused = await askAs(relay.url, host, path, body)
            expect([host, refused.status, JSON.parse(refused.body).error]).toEqual([
              host,
              421,
              'HOST_UNKNOWN',
            ])
          }
        }
        expect((await verify(account, challenge)).status).toBe(200)
        await untilLogged(relay.process, 'login_host_refused')
        const lines = relay.process.errors().split('\n')
        expect(lines.filter((line) => line.includes('login_host_refused'))).toHaveLength(1)
      })

      test('is issued for an unknown uuid too, and a login with it is refused like a wrong signature', async () => {
        const account = await wireAccount(relay.url)
        const stranger = crypto.randomUUID()
        const unknown = await challengeFor(stranger)
        const known = await challengeFor(account.uuid)
        expect(unknown.length).toBe(known.length)
        const other = new WireAccount(relay.url)
        const answers = [
          await verify(account, unknown, { user_uuid: stranger }),
          await verify(account, known, { signature: other.sign(known) }),
        ]
        for (const answer of answers) expectProblem(answer, 401, 'SIGNATURE_INVALID')
        expect(answers[0]?.text).toBe(answers[1]?.text ?? '')
      })

      test('can be used for one login only', async () => {
        const account = await wireAccount(relay.url)
        const challenge = await challengeFor(account.uuid)
        const answers = await Promise.all(Array.from({ length: 4 }, () => verify(account, challenge)))
        expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401])
        expectProblem(await verify(account, challenge), 401, 'CHALLENGE_INVALID')
      })

      test('is not used up by a wrong signature', async () => {
        const account = await wireAccount(relay.url)
        const challenge = await challengeFor(account.uuid)
        expectProblem(
          await verify(account, challenge, { signature: account.sign(`${challenge} `) }),
          401,
          'SIGNATURE_INVALID',
        )
        expect((await verify(account, challenge)).status).toBe(200)
      })

      test('that belongs to another account, was changed or is made up is refused', async () => {
        const [account, other] = [await wireAccount(relay.url), await wireAccount(relay.url)]
        const challenge = await challengeFor(account.uuid)
        const theirs = await challengeFor(other.uuid)
        const ofOther = challenge.replace(account.uuid, other.uuid)
        for (const wrong of [
          theirs,
          ofOther,
          challenge.toUpperCase(),
          `${challenge} `,
          ` ${challenge}`,
          `${challenge}\n`,
          '',
          'x',
        ]) {
          expectProblem(await verify(account, wrong), 401, 'CHALLENGE_INVALID')
        }
        const at = challenge.length
        for (const position of [at - 1, at - 20, at - 30, at - 40, at - 43]) {
          const letter = challenge[position] === 'A' ? 'B' : 'A'
          const tampered = challenge.slice(0, position) + letter + challenge.slice(position + 1)
          expectProblem(await verify(account, tampered), 401, 'CHALLENGE_INVALID')
        }
        expect((await verify(account, challenge)).status).toBe(200)
      })

      test('with an invalid field in the request is refused with the name of the field', async () => {
        const account = await wireAccount(relay.url)
        const challenge = await challengeFor(account.uuid)
        for (const user_uuid of [
          undefined,
          null,
          7,
          '',
          'x',
          account.uuid.toUpperCase(),
          `${account.uuid}0`,
          [account.uuid],
        ]) {
          expectInvalidField(await post(account.api('/auth/challenge'), { user_uuid }), 'user_uuid')
          expectInvalidField(await verify(account, challenge, { user_uuid }), 'user_uuid')
        }
        for (const signature of [
          undefined,
          7,
          '',
          'AAAA',
          account.sign(challenge).replace(/=+$/, ''),
          `${account.sign(challenge)}\n`,
        ]) {
          expectInvalidField(await verify(account, challenge, { signature }), 'signature')
        }
        for (const wrong of [undefined, 7, null, 'x'.repeat(513)]) {
          expectInvalidField(await verify(account, challenge, { challenge: wrong }), 'challenge')
        }
      })
    })

    describe('a token', () => {
      test('is valid for a day and names its subject, issuer, audience and expiry', async () => {
        const account = await wireAccount(relay.url)
        const answer = await verify(account, await challengeFor(account.uuid))
        expectFields(answer.body, ['token', 'expires_in'])
        expect(answer.body.expires_in).toBe(86_400)
        expect(answer.body.token).toMatch(FORMS.jwt)
        const { header, claims } = partsOf(answer.body.token)
        expect(header).toEqual({ alg: 'HS256', typ: 'JWT', kid: expect.any(String) })
        expectFields(claims, ['iss', 'aud', 'sub', 'jti', 'iat', 'exp'])
        expect(claims).toMatchObject({ sub: account.uuid, exp: Number(claims.iat) + 86_400 })
      })

      test('that is missing, malformed or under another scheme is 401 UNAUTHENTICATED', async () => {
        const { token } = await wireAccount(relay.url)
        for (const authorization of [
          undefined,
          '',
          'Bearer',
          'Bearer ',
          `Basic ${token}`,
          token,
          `Bearer ${token}.x`,
          'Bearer a.b.c',
        ]) {
          const answer = await call(
            `${relay.url}/api/v1/me`,
            authorization === undefined ? {} : { headers: { authorization } },
          )
          expectProblem(answer, 401, 'UNAUTHENTICATED')
          expect(answer.headers.get('www-authenticate')).toBe('Bearer')
        }
        const lower = await call(`${relay.url}/api/v1/me`, {
          headers: { authorization: `bearer  ${token} ` },
        })
        expect(lower.status).toBe(200)
      })

      test('that is forged gives no access, by HTTP or by WebSocket', async () => {
        const [account, victim] = [await wireAccount(relay.url), await wireAccount(relay.url)]
        const { header, claims, signature } = partsOf(account.token)
        const asVictim = { ...claims, sub: victim.uuid }
        const forged = [
          [{ alg: 'none', typ: 'JWT' }, asVictim, ''],
          [{ ...header, alg: 'none' }, asVictim, ''],
          [{ ...header, alg: 'none' }, asVictim, signature],
          [{ ...header, alg: 'None' }, claims, signature],
          [{ ...header, alg: 'HS512' }, asVictim, 'HS512'],
          [{ ...header, alg: 'RS256' }, asVictim, signature],
          [{ ...header, alg: 'HS384' }, claims, signature],
          [{ ...header, kid: 'other' }, claims, signature],
          [{ ...header, kid: undefined }, claims, signature],
          [{ ...header, kid: '../../dev/null' }, asVictim, 'empty'],
          [{ ...header, jwk: { kty: 'oct', k: 'AA' } }, asVictim, 'empty'],
          [{ ...header, crit: ['exp'] }, claims, signature],
          [header, asVictim, signature],
          [header, { ...claims, exp: Number(claims.exp) + 1 }, signature],
          [header, { ...claims, aud: 'other' }, signature],
          [header, claims, signature.slice(0, -4)],
          [header, claims, ''],
        ].map(([head, body, how]) => forgedToken(head, body, how))
        for (const token of forged) {
          const answer = await call(`${relay.url}/api/v1/me`, {
            headers: { authorization: `Bearer ${token}` },
          })
          expectProblem(answer, 401, 'UNAUTHENTICATED')
          for (const uuid of [account.uuid, victim.uuid]) {
            const upgrade = await rawHttp(
              relay.url,
              requestOf(`GET /ws?user_uuid=${uuid}&token=${token}`, UPGRADE),
            )
            expect([upgrade.status, JSON.parse(upgrade.body).error]).toEqual([401, 'UNAUTHENTICATED'])
          }
        }
      })

      test('of one relay is refused by another', async () => {
        const account = await wireAccount(relay.url)
        const answer = await call(`${named.url}/api/v1/me`, { headers: account.authorized() })
        expectProblem(answer, 401, 'UNAUTHENTICATED')
      })
    })

    describe('logging out', () => {
      test('revokes this token at once, for HTTP and for its WebSocket, and no other token', async () => {
        const account = await wireAccount(relay.url)
        const second = { ...account.authorized() }
        await account.login()
        const { socket } = await account.online()
        const answer = await account.bare('POST', '/auth/logout')
        expect([answer.status, answer.text]).toEqual([200, '{}'])
        expect(await socket.next()).toEqual({ type: 'goaway', reason: 'jwt_revoked' })
        expect((await socket.closed).code).toBe(4401)
        expectProblem(await account.get('/me'), 401, 'TOKEN_DEAD')
        expectProblem(await account.bare('POST', '/auth/logout'), 401, 'TOKEN_DEAD')
        expectProblem(await account.bare('POST', '/ws/ticket'), 401, 'TOKEN_DEAD')
        expect((await call(account.api('/me'), { headers: second })).status).toBe(200)
      })

      test('does not affect a connection that another token opened', async () => {
        const account = await wireAccount(relay.url)
        const { socket } = await account.online()
        await account.login()
        await account.bare('POST', '/auth/logout')
        expect(await socket.untilPong()).toEqual([])
      })

      test('makes a WebSocket with the revoked token open, receive jwt_revoked and close with 4401', async () => {
        const account = await wireAccount(relay.url)
        const ticket = await account.ticket()
        await account.bare('POST', '/auth/logout')
        for (const query of [`token=${account.token}`, `ticket=${ticket}`]) {
          const socket = await WireSocket.open(`${account.wsUrl()}?user_uuid=${account.uuid}&${query}`)
          expect(await socket.next()).toEqual({ type: 'goaway', reason: 'jwt_revoked' })
          expect((await socket.closed).code).toBe(4401)
          expect(socket.frames).toEqual([])
        }
      })
    })

    describe('a ticket', () => {
      test('is requested without a body, and the answer has exactly its three fields', async () => {
        const account = await wireAccount(relay.url)
        const answer = await account.bare('POST', '/ws/ticket')
        expect(answer.status).toBe(200)
        expect(answer.body).toEqual({
          ticket: expect.stringMatching(/^[\w-]{22,}$/),
          expires_in: 30,
          features: ['after', 'epochs'],
        })
      })

      test('opens one WebSocket, and only for its account', async () => {
        const [account, other] = [await wireAccount(relay.url), await wireAccount(relay.url)]
        const upgrade = (uuid: string | undefined, ticket: string) => {
          const query = uuid === undefined ? `ticket=${ticket}` : `user_uuid=${uuid}&ticket=${ticket}`
          return rawHttp(relay.url, requestOf(`GET /ws?${query}`, UPGRADE))
        }
        const ticket = await account.ticket()
        expect((await upgrade(account.uuid, ticket)).status).toBe(101)
        for (const [uuid, wrong] of [
          [account.uuid, ticket],
          [account.uuid, ''],
          [account.uuid, 'made-up'],
          [other.uuid, await account.ticket()],
          [undefined, await account.ticket()],
        ] as const) {
          const refused = await upgrade(uuid, wrong)
          expect([refused.status, JSON.parse(refused.body).error]).toEqual([401, 'TICKET_INVALID'])
        }
      })
    })

    interface TokenParts {
      readonly header: Record<string, unknown>
      readonly claims: Record<string, unknown>
      readonly signature: string
    }

    function partsOf(token: string): TokenParts {
      const [header = '', claims = '', signature = ''] = token.split('.')
      const read = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString())
      return { header: read(header), claims: read(claims), signature }
    }

    // `how` is a signature, or names how an attacker computes one.
    function forgedToken(header: unknown, claims: unknown, how: unknown): string {
      const text = [header, claims]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.')
      if (how === 'HS512')
        return `${text}.${createHmac('sha512', 'guessed').update(text).digest('base64url')}`
      if (how === 'empty') return `${text}.${createHmac('sha256', '').update(text).digest('base64url')}`
      return `${text}.${how}`
    }
  })
}
