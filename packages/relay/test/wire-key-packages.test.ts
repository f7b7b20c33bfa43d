// Key packages: devices upload them, friends claim them, and each is given out once.
import { beforeAll, expect, test } from 'bun:test'
import { expectInvalidField, expectProblem } from './expect.ts'
import { onEveryEngine } from './use-relay.ts'
import { type Answer, befriend, type WireAccount, wireAccount, wireFriends } from './wire.ts'

const DAY_MS = 86_400_000
/** What the relay's clock shows, which tests of this file move. */
let now = 0

const deviceOf = (digit: string): string => digit.repeat(32)
const [PHONE, LAPTOP] = [deviceOf('a'), deviceOf('b')]
const endIn = (ms: number): string => new Date(now + ms).toISOString()
/** Base64 that tells packages apart. */
const contentOf = (id: string): string => Buffer.from(`package ${id}`).toString('base64')
const packageOf = (id: string, ms = 30 * DAY_MS) => ({ id, package: contentOf(id), expires_at: endIn(ms) })
const packagesOf = (ids: readonly string[]) => ids.map((id) => packageOf(id))
const lastResortOf = (id: string) => ({ id, package: contentOf(id) })
const numbered = (count: number, prefix = 'k'): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`)

function upload(
  account: WireAccount,
  device: string,
  packages: object[],
  more: object = {},
): Promise<Answer> {
  return account.post('/key-packages', { device, packages, ...more })
}

function claim(account: WireAccount, conv: string): Promise<Answer> {
  return account.bare('POST', `/conversations/${conv}/key-packages/claim`)
}

/** The id of the one package that a claim gives. */
async function claimId(account: WireAccount, conv: string): Promise<string> {
  const { status, body } = await claim(account, conv)
  expect([status, body.packages?.length]).toEqual([200, 1])
  return body.packages[0].id
}

onEveryEngine((relay) => {
  beforeAll(() => {
    now = Date.now()
  })
  const letPass = async (ms: number): Promise<void> => {
    now = await relay.process.letPass(ms)
  }
  const letDayPass = async (...accounts: WireAccount[]): Promise<void> => {
    await letPass(DAY_MS)
    for (const account of accounts) await account.login()
  }

  test('a friend gets the oldest package of a device, each once, and the owner sees how many are left', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    expect((await alice.get('/key-packages')).body).toEqual({ devices: [] })
    const [first, second] = [packageOf('first', 2 * DAY_MS), packageOf('second', DAY_MS)]
    const uploaded = await upload(alice, PHONE, [first, second])
    expect([uploaded.status, uploaded.body]).toEqual([200, { count: 2, has_last_resort: false }])
    const device = { device: PHONE, has_last_resort: false }
    const listed = async () => (await alice.get('/key-packages')).body.devices
    expect(await listed()).toEqual([{ ...device, count: 2, expires_at: second.expires_at }])
    const given = (id: string) => ({
      packages: [{ device: PHONE, id, package: contentOf(id), is_last_resort: false }],
    })
    expect((await claim(bob, conv)).body).toEqual(given('first'))
    expect(await listed()).toEqual([{ ...device, count: 1, expires_at: second.expires_at }])
    expect((await claim(bob, conv)).body).toEqual(given('second'))
    expect(await listed()).toEqual([{ ...device, count: 0, expires_at: null }])
    expectProblem(await claim(bob, conv), 409, 'NO_KEY_PACKAGES')
    // The friend has none for the owner, and gets none of its own.
    expectProblem(await claim(alice, conv), 409, 'NO_KEY_PACKAGES')
  })

  test('an upload can be repeated: no id is doubled, and none that was given out is taken again', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const batch = packagesOf(['one', 'two', 'two'])
    for (let n = 0; n < 2; n++)
      expect((await upload(alice, PHONE, batch, { last_resort: lastResortOf('last') })).body).toEqual({
        count: 2,
        has_last_resort: true,
      })
    expect(await claimId(bob, conv)).toBe('one')
    const repeated = await upload(alice, PHONE, batch, { last_resort: lastResortOf('one') })
    expect(repeated.body).toEqual({ count: 1, has_last_resort: true })
    // Nor for another device, nor after the device was forgotten.
    expect((await upload(alice, LAPTOP, packagesOf(['one', 'two']))).body.count).toBe(0)
    expect((await alice.bare('DELETE', `/key-packages/${PHONE}`)).status).toBe(200)
    expect((await upload(alice, PHONE, packagesOf(['one', 'three']))).body.count).toBe(1)
    expect(await claimId(bob, conv)).toBe('three')
  })

  test('claims at the same time never get the same package', async () => {
    const owner = await wireAccount(relay.url)
    const friends = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const friend = await wireAccount(relay.url)
        return { friend, conv: await befriend(friend, owner) }
      }),
    )
    const ids = numbered(18)
    await upload(owner, PHONE, packagesOf(ids))
    const claims = friends.flatMap(({ friend, conv }) => Array.from({ length: 5 }, () => claim(friend, conv)))
    const answers = await Promise.all(claims)
    const given = answers.flatMap(({ body }) => (body.packages ?? []).map(({ id }: { id: string }) => id))
    expect(given.toSorted()).toEqual(ids.toSorted())
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused).toHaveLength(2)
    for (const answer of refused) expectProblem(answer, 409, 'NO_KEY_PACKAGES')
  })

  test('uploads and claims at the same time neither lose nor double a package', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const [batch, ids] = [numbered(10), new Set<string>()]
    const uploads = Array.from({ length: 4 }, () => upload(alice, PHONE, packagesOf(batch)))
    const answers = await Promise.all([...uploads, ...Array.from({ length: 4 }, () => claim(bob, conv))])
    for (const { body } of answers) for (const { id } of body.packages ?? []) ids.add(id)
    const taken = answers.filter(({ body }) => body.packages).length
    expect(ids.size).toBe(taken)
    expect((await upload(alice, PHONE, packagesOf(batch))).body.count).toBe(10 - taken)
  })

  test('each device gives one, the one that uploaded last first; a last resort is given when there is no other', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    await upload(alice, PHONE, packagesOf(['p1']), { last_resort: lastResortOf('p-last') })
    await letPass(1000)
    await upload(alice, LAPTOP, packagesOf(['l1', 'l2']))
    const claimed = async (): Promise<string[]> =>
      (await claim(bob, conv)).body.packages.map(
        ({ device, id, is_last_resort }: { device: string; id: string; is_last_resort: boolean }) =>
          `${device[0]} ${id}${is_last_resort ? ' again' : ''}`,
      )
    expect(await claimed()).toEqual(['b l1', 'a p1'])
    await letPass(1000)
    // A repeat, which shows that the device is in use.
    await upload(alice, PHONE, [], { last_resort: lastResortOf('p-last') })
    expect(await claimed()).toEqual(['a p-last again', 'b l2'])
    expect(await claimed()).toEqual(['a p-last again'])
    // A new one replaces it, and what was given out does not come back.
    await upload(alice, PHONE, [], { last_resort: lastResortOf('p-new') })
    await upload(alice, PHONE, [], { last_resort: lastResortOf('p-last') })
    expect((await upload(alice, PHONE, packagesOf(['p-last']))).body).toEqual({
      count: 0,
      has_last_resort: true,
    })
    expect(await claimed()).toEqual(['a p-new again'])
  })

  test('a friend cannot use up the packages of another: after five claims a day it gets the last resort', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const other = await wireAccount(relay.url)
    const others = await befriend(other, alice)
    await upload(alice, PHONE, packagesOf(numbered(9)), { last_resort: lastResortOf('last') })
    await upload(alice, LAPTOP, packagesOf(['l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7']))
    await letPass(1000)
    for (let n = 0; n < 5; n++) expect((await claim(bob, conv)).body.packages).toHaveLength(2)
    for (let n = 0; n < 2; n++) expect(await claimId(bob, conv)).toBe('last')
    expect((await claim(other, others)).body.packages).toHaveLength(2)
    await letDayPass(alice, bob)
    expect((await claim(bob, conv)).body.packages.map(({ id }: { id: string }) => id).toSorted()).toEqual([
      'k6',
      'l7',
    ])
  })

  test('a claim beyond the bound is refused if there is no last resort, and leaves the packages there', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    await upload(alice, PHONE, packagesOf(numbered(7)))
    for (let n = 0; n < 5; n++) await claimId(bob, conv)
    expectProblem(await claim(bob, conv), 409, 'NO_KEY_PACKAGES')
    expect((await alice.get('/key-packages')).body.devices).toMatchObject([{ count: 2 }])
  })

  test('only a friend can claim: everybody else is told that there is no such conversation', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const stranger = await wireAccount(relay.url)
    await upload(alice, PHONE, packagesOf(numbered(3)), { last_resort: lastResortOf('last') })
    expectProblem(await claim(stranger, conv), 404, 'NOT_FOUND')
    for (const unknown of [crypto.randomUUID(), 'x', conv.toUpperCase()])
      expectProblem(await claim(bob, unknown), 404, 'NOT_FOUND')
    await alice.bare('PUT', `/blocks/${bob.alias}`)
    expectProblem(await claim(bob, conv), 404, 'NOT_FOUND')
    await alice.bare('DELETE', `/blocks/${bob.alias}`)
    expect(await befriend(alice, bob)).toBe(conv)
    expect(await claimId(bob, conv)).toBe('k0')
    const [{ friendship_id }] = (await bob.get('/friends')).body
    await bob.bare('DELETE', `/friends/${friendship_id}`)
    expectProblem(await claim(bob, conv), 404, 'NOT_FOUND')
    expect(await befriend(alice, bob)).toBe(conv)
    expect((await alice.bare('DELETE', '/me')).status).toBe(200)
    expectProblem(await claim(bob, conv), 404, 'NOT_FOUND')
    expectProblem(await upload(alice, PHONE, packagesOf(['more'])), 401, 'TOKEN_DEAD')
  })

  test('a connected owner is told when a device has fewer than twenty left, and not before', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    await upload(alice, PHONE, packagesOf(numbered(21)))
    const { socket } = await alice.online()
    await claimId(bob, conv)
    expect(await socket.untilPong()).toEqual([])
    await claimId(bob, conv)
    expect(await socket.next()).toEqual({ type: 'key_packages_low', device: PHONE, left: 19 })
    await upload(alice, LAPTOP, [], { last_resort: lastResortOf('last') })
    await claim(bob, conv)
    expect(new Set(await socket.take(2))).toEqual(
      new Set([
        { type: 'key_packages_low', device: PHONE, left: 18 },
        { type: 'key_packages_low', device: LAPTOP, left: 0 },
      ]),
    )
    await socket.close()
  })

  test('a package that has expired is not given out, and its id is forgotten', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    await upload(alice, PHONE, [packageOf('short', DAY_MS), packageOf('given', DAY_MS), packageOf('long')])
    expect(await claimId(bob, conv)).toBe('short')
    await letDayPass(alice, bob)
    expect((await alice.get('/key-packages')).body.devices).toMatchObject([{ count: 1 }])
    expect(await claimId(bob, conv)).toBe('long')
    for (let count = 0; count < 2; ) {
      await relay.process.maintain()
      count = (await upload(alice, PHONE, packagesOf(['short', 'given', 'long']))).body.count
    }
  })

  test('a new device beyond ten replaces the one that uploaded longest ago', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const digits = [...'0123456789']
    for (const digit of digits) {
      await upload(alice, deviceOf(digit), packagesOf([`of-${digit}`]), {
        last_resort: lastResortOf(`last-${digit}`),
      })
      await letPass(1000)
    }
    await upload(alice, deviceOf('0'), packagesOf(['more'])) // It is in use.
    await letPass(1000)
    await upload(alice, deviceOf('f'), packagesOf(['of-f']))
    const listed: { device: string }[] = (await alice.get('/key-packages')).body.devices
    const left = ['f', '0', ...'98765432'].map(deviceOf)
    expect(listed.map(({ device }) => device)).toEqual(left)
    const { packages } = (await claim(bob, conv)).body
    expect(packages.map(({ device }: { device: string }) => device)).toEqual(left)
    for (const device of [...left, deviceOf('e')])
      expect((await alice.bare('DELETE', `/key-packages/${device}`)).status).toBe(200)
    expect((await alice.get('/key-packages')).body).toEqual({ devices: [] })
    expectProblem(await claim(bob, conv), 409, 'NO_KEY_PACKAGES')
    expectProblem(await alice.bare('DELETE', '/key-packages/phone'), 404, 'NOT_FOUND')
  })

  test('what breaks a rule is refused with its field, and nothing of it is stored', async () => {
    const account = await wireAccount(relay.url)
    const good = packageOf('good')
    const refused: readonly [string, object][] = [
      ['device', { device: 'A'.repeat(32), packages: [good] }],
      ['device', { device: 'a'.repeat(31), packages: [good] }],
      ['packages', { device: PHONE, packages: [] }],
      ['packages', { device: PHONE }],
      ['packages', { device: PHONE, packages: packagesOf(numbered(101)) }],
      ['packages.1.id', { device: PHONE, packages: [good, packageOf('two words')] }],
      ['packages.1.id', { device: PHONE, packages: [good, packageOf('x'.repeat(65))] }],
      [
        'packages.1.package',
        { device: PHONE, packages: [good, { ...good, id: 'b', package: 'not Base64' }] },
      ],
      [
        'packages.1.package',
        { device: PHONE, packages: [good, { ...good, id: 'b', package: 'AAAA'.repeat(2049) }] },
      ],
      ['packages.1.expires_at', { device: PHONE, packages: [good, packageOf('past', 0)] }],
      ['packages.1.expires_at', { device: PHONE, packages: [good, packageOf('far', 91 * DAY_MS)] }],
      ['packages.1.expires_at', { device: PHONE, packages: [good, { ...good, expires_at: 'soon' }] }],
      ['last_resort.package', { device: PHONE, packages: [good], last_resort: { id: 'l', package: '' } }],
    ]
    for (const [field, body] of refused) expectInvalidField(await account.post('/key-packages', body), field)
    const long = { ...packageOf('long'), package: 'AAAA'.repeat(2048) }
    const tooLarge = numbered(9).map((id) => ({ ...long, id }))
    expectProblem(await upload(account, PHONE, tooLarge), 413, 'PAYLOAD_TOO_LARGE')
    expect((await account.get('/key-packages')).body).toEqual({ devices: [] })
    expect((await upload(account, PHONE, [long])).status).toBe(200)
  })

  test('a device keeps a hundred packages; more are refused as a whole, and a repeat is not', async () => {
    const { alice, bob, conv } = await wireFriends(relay.url)
    const ids = numbered(100)
    expect((await upload(alice, PHONE, packagesOf(ids))).body.count).toBe(100)
    const more = { last_resort: lastResortOf('last') }
    expectProblem(await upload(alice, PHONE, packagesOf(['one more']), more), 400, 'INVALID_FIELD', {
      field: 'packages.0.id',
      detail: expect.any(String),
    })
    expectProblem(await upload(alice, PHONE, packagesOf(['more']), more), 409, 'TOO_MANY_KEY_PACKAGES')
    expect((await upload(alice, PHONE, packagesOf(ids))).body).toEqual({ count: 100, has_last_resort: false })
    expect((await upload(alice, LAPTOP, packagesOf(['l1']))).status).toBe(200)
    await claim(bob, conv)
    expect((await upload(alice, PHONE, packagesOf(['more']), more)).body).toEqual({
      count: 100,
      has_last_resort: true,
    })
  })
})
