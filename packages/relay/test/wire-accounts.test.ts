// Registration, seen from outside: proof of work and keys.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { engines } from './engines.ts'
import { expectFields, expectInvalidField, expectProblem, FORMS } from './expect.ts'
import { untilLogged } from './until-logged.ts'
import { useRelayOn } from './use-relay.ts'
import { type Answer, call, post, solve, WireAccount, wireAccount } from './wire.ts'

for (const engine of engines) {
  describe(`on ${engine.name}`, () => {
    const relay = useRelayOn(engine)

    /**
     * Opens a challenge. A challenge stays open for the client's address until it is used, so a test uses its
     * own challenges and never one that another test opened.
     */
    async function openChallenge(url: string): Promise<{ challenge_string: string; difficulty: number }> {
      return (await call(`${url}/api/v1/pow/challenge`, { method: 'POST' })).body
    }

    function bodyOf(account: WireAccount, more: Record<string, unknown> = {}): Record<string, unknown> {
      return {
        ed25519_public_key: account.ed25519,
        x25519_public_key: account.x25519,
        nickname: 'wire',
        ...more,
      }
    }

    function register(account: WireAccount, more: Record<string, unknown>): Promise<Answer> {
      return post(account.api('/register'), bodyOf(account, more))
    }

    /** A nonce that does not solve this challenge. */
    function wrongNonce(challenge: string): string {
      for (let nonce = 0; ; nonce++) {
        const digest = createHash('sha256').update(`${challenge}${nonce}`).digest('hex')
        if (!digest.startsWith('0')) return String(nonce)
      }
    }

    describe('proof of work', () => {
      test('a challenge is requested without a body or a content type, and has exactly its three fields', async () => {
        const answer = await call(`${relay.url}/api/v1/pow/challenge`, { method: 'POST' })
        expect(answer.status).toBe(200)
        expectFields(answer.body, ['challenge_string', 'difficulty', 'expires_in'])
        expect(answer.body).toEqual({
          challenge_string: expect.stringMatching(/^[\w-]{16,}$/),
          difficulty: 1,
          expires_in: 300,
        })
      })

      test('a nonce sent without a challenge is checked against every challenge that is open for the address', async () => {
        const account = new WireAccount(relay.url)
        const challenges = [
          await openChallenge(relay.url),
          await openChallenge(relay.url),
          await openChallenge(relay.url),
        ]
        const [first] = challenges
        const answer = await register(account, { pow_nonce: solve(first?.challenge_string ?? '', 1) })
        expect(answer.status).toBe(201)
        expectFields(answer.body, ['uuid', 'alias_id'])
        expect(answer.body.uuid).toMatch(FORMS.uuid)
        expect(answer.body.alias_id).toMatch(FORMS.assignedAlias)
      })

      test('a nonce sent with a challenge is checked against that challenge only', async () => {
        const [asked, other] = [await openChallenge(relay.url), await openChallenge(relay.url)]
        const account = new WireAccount(relay.url)
        const wrong = wrongNonce(asked.challenge_string)
        expectProblem(
          await register(account, { pow_nonce: wrong, pow_challenge: asked.challenge_string }),
          400,
          'POW_INVALID',
        )
        const right = solve(other.challenge_string, other.difficulty)
        expect(
          (await register(account, { pow_nonce: right, pow_challenge: other.challenge_string })).status,
        ).toBe(201)
      })

      test('a wrong nonce does not use up the challenge: the right nonce works afterwards', async () => {
        const account = new WireAccount(relay.url)
        const { challenge_string: challenge } = await openChallenge(relay.url)
        for (let attempt = 0; attempt < 3; attempt++) {
          const answer = await register(account, {
            pow_nonce: wrongNonce(challenge),
            pow_challenge: challenge,
          })
          expectProblem(answer, 400, 'POW_INVALID')
        }
        expect(
          (await register(account, { pow_nonce: solve(challenge, 1), pow_challenge: challenge })).status,
        ).toBe(201)
      })

      test('a challenge can be used for one registration only', async () => {
        const { challenge_string: challenge } = await openChallenge(relay.url)
        const work = { pow_nonce: solve(challenge, 1), pow_challenge: challenge }
        expect((await register(new WireAccount(relay.url), work)).status).toBe(201)
        expectProblem(await register(new WireAccount(relay.url), work), 400, 'POW_REQUIRED')
      })

      test('of several registrations at once with the same challenge, one succeeds', async () => {
        const { challenge_string: challenge } = await openChallenge(relay.url)
        const work = { pow_nonce: solve(challenge, 1), pow_challenge: challenge }
        const answers = await Promise.all(
          Array.from({ length: 4 }, () => register(new WireAccount(relay.url), work)),
        )
        const statuses = answers.map(({ status }) => status).toSorted()
        expect(statuses).toEqual([201, 400, 400, 400])
      })

      test('a missing proof of work, or one for a challenge that was never opened, is POW_REQUIRED', async () => {
        await openChallenge(relay.url)
        for (const missing of [{}, { pow_nonce: '' }])
          expectProblem(await register(new WireAccount(relay.url), missing), 400, 'POW_REQUIRED')
        const unknown = { pow_nonce: '1', pow_challenge: 'never-opened' }
        expectProblem(await register(new WireAccount(relay.url), unknown), 400, 'POW_REQUIRED')
      })
    })

    describe('at an address that a stranger shares', () => {
      // With this much work, one nonce hardly ever solves two challenges.
      const shared = useRelayOn(engine, { RATE_LIMITS: 'on', LIMIT_POW_DIFFICULTY: '3' })

      test('a solved challenge stays open, named or not, however many challenges the stranger asks for', async () => {
        const [first, second] = [await openChallenge(shared.url), await openChallenge(shared.url)]
        const work = [first, second].map((asked) => solve(asked.challenge_string, asked.difficulty))
        let strangers = 0
        while ((await call(`${shared.url}/api/v1/pow/challenge`, { method: 'POST' })).status === 200)
          strangers++
        expect(strangers).toBeGreaterThanOrEqual(58)
        const answers = [
          await register(new WireAccount(shared.url), {
            pow_nonce: work[0],
            pow_challenge: first.challenge_string,
          }),
          await register(new WireAccount(shared.url), { pow_nonce: work[1] }),
        ]
        expect(answers.map(({ status }) => status)).toEqual([201, 201])
      })
    })

    describe('while many people register', () => {
      const busy = useRelayOn(engine, { RATE_LIMITS: 'on', POW_RISES_AT: '3', POW_DIFFICULTY_MOST: '2' })

      test('new challenges ask for more work, those that are open stay as they are, and later all is as before', async () => {
        const before = await openChallenge(busy.url)
        for (let count = 0; count < 3; count++) await wireAccount(busy.url)
        expect((await openChallenge(busy.url)).difficulty).toBe(2)
        const { challenge_string, difficulty } = before
        expect(difficulty).toBe(1)
        const work = { pow_nonce: solve(challenge_string, 1), pow_challenge: challenge_string }
        expect((await register(new WireAccount(busy.url), work)).status).toBe(201)
        expect((await new WireAccount(busy.url).register()).status).toBe(201)
        for (let count = 0; count < 20; count++) await wireAccount(busy.url)
        expect((await openChallenge(busy.url)).difficulty).toBe(2)
        await busy.process.letPass(660_000)
        expect((await openChallenge(busy.url)).difficulty).toBe(1)
        await untilLogged(busy.process, 'proof_of_work_rises')
      })
    })

    describe('registering', () => {
      test('a key that is already registered answers 409 with its account, before the proof of work and the other fields are checked', async () => {
        const account = await wireAccount(relay.url, 'first')
        const existing = { uuid: account.uuid, alias_id: account.alias }
        const otherKey = new WireAccount(relay.url).x25519
        for (const more of [
          { nickname: 'second' },
          { pow_nonce: 'x', pow_challenge: 'y' },
          { pow_nonce: '' },
          { x25519_public_key: otherKey },
        ])
          expectProblem(await register(account, more), 409, 'ACCOUNT_EXISTS', existing)
        expect((await account.get('/me')).body).toMatchObject({
          nickname: 'first',
          x25519_public_key: account.x25519,
        })
      })

      test('registering the same key several times at once makes one account', async () => {
        const account = new WireAccount(relay.url)
        const work: Record<string, unknown>[] = []
        for (let count = 0; count < 4; count++) {
          const { challenge_string: challenge } = await openChallenge(relay.url)
          work.push({ pow_nonce: solve(challenge, 1), pow_challenge: challenge })
        }
        const answers = await Promise.all(work.map((more) => register(account, more)))
        expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409])
        expect(new Set(answers.map(({ body }) => body.uuid)).size).toBe(1)
      })

      test('unknown fields are ignored', async () => {
        const account = new WireAccount(relay.url)
        const { challenge_string: challenge } = await openChallenge(relay.url)
        const more = {
          pow_nonce: solve(challenge, 1),
          platform: 'android',
          uuid: 'mine',
          nested: { a: [1] },
          constructor: 1,
        }
        expect((await register(account, more)).status).toBe(201)
      })

      test.each([
        ['ed25519_public_key', 'all zeros', Buffer.alloc(32)],
        ['ed25519_public_key', 'the neutral element', Buffer.concat([Buffer.of(1), Buffer.alloc(31)])],
        [
          'ed25519_public_key',
          'order 8',
          Buffer.from('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a', 'hex'),
        ],
        ['ed25519_public_key', 'no point', Buffer.concat([Buffer.of(2), Buffer.alloc(31)])],
        [
          'ed25519_public_key',
          'not canonical',
          Buffer.concat([Buffer.of(0xee), Buffer.alloc(30, 0xff), Buffer.of(0x7f)]),
        ],
        ['x25519_public_key', 'zero', Buffer.alloc(32)],
        ['x25519_public_key', 'one', Buffer.concat([Buffer.of(1), Buffer.alloc(31)])],
        [
          'x25519_public_key',
          'order 8',
          Buffer.from('e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800', 'hex'),
        ],
        [
          'x25519_public_key',
          'p - 1',
          Buffer.concat([Buffer.of(0xec), Buffer.alloc(30, 0xff), Buffer.of(0x7f)]),
        ],
      ])('a key that no honest client has is refused: %s, %s', async (field, _name, key) => {
        const { challenge_string: challenge } = await openChallenge(relay.url)
        const work = { pow_nonce: solve(challenge, 1), pow_challenge: challenge }
        const account = new WireAccount(relay.url)
        const refused = await register(account, { ...work, [field]: key.toString('base64') })
        expectInvalidField(refused, field, /public key/)
        // The refusal registered nothing, but it used up the proof of work.
        expectProblem(await register(account, work), 400, 'POW_REQUIRED')
        expect((await account.register()).status).toBe(201)
      })

      test('keys are looked at only after a right proof of work, which pays for it', async () => {
        const { challenge_string: challenge } = await openChallenge(relay.url)
        const invalid = { x25519_public_key: Buffer.alloc(32).toString('base64') }
        const account = new WireAccount(relay.url)
        expectProblem(await register(account, invalid), 400, 'POW_REQUIRED')
        const wrong = { pow_nonce: wrongNonce(challenge), pow_challenge: challenge }
        expectProblem(await register(account, { ...invalid, ...wrong }), 400, 'POW_INVALID')
        const right = { pow_nonce: solve(challenge, 1), pow_challenge: challenge }
        const answers = await Promise.all(
          Array.from({ length: 4 }, () => register(account, { ...invalid, ...right })),
        )
        const fields = answers.filter(({ body }) => body.error === 'INVALID_FIELD')
        expect(fields).toHaveLength(1)
      })
    })
  })
}
