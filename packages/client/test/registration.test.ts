// Registration: its progress, its proof of work, and its abortion.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { tellRelay } from '@sotto/relay'
import { startRelay } from '@sotto/relay/testing'
import { failureOf } from '../../protocol/test/failure-of.ts'
import { solveInSlices } from '../src/account/proof-of-work.ts'
import {
  generateMnemonic,
  Invites,
  MemoryStore,
  type ProofOfWork,
  type RegistrationProgress,
  type RegistrationStep,
  registrationMode,
  SottoClient,
} from '../src/client.ts'
import { systemClock } from '../src/platform/clock.ts'
import { PeopleWorld } from './people-world.ts'
import { Recorder } from './recorder.ts'
import { conversationId } from './stores/store-contract.ts'

// Long, because a busy machine is slow. A wait that fails names what did not happen.
setDefaultTimeout(240_000)

const world = new PeopleWorld()
/**
 * A relay that requires more work than usual. Solving it takes long enough for progress reports, and a wrong
 * answer is almost never right by chance.
 */
const hardWorld = new PeopleWorld({ LIMIT_POW_DIFFICULTY: '4' })

const newPhrase = () => generateMnemonic((length) => crypto.getRandomValues(new Uint8Array(length)))

function stepsOf(reports: readonly RegistrationProgress[]): string[] {
  return reports
    .map(({ step, number }) => `${number} ${step}`)
    .filter((line, at, all) => line !== all[at - 1])
}

test('a relay says who may register, and takes the code of an invite', async () => {
  const relay = await startRelay({ env: { REGISTRATION: 'invite' } })
  try {
    expect(await registrationMode(world.relay.url)).toBe('open')
    expect(await registrationMode(`${relay.url}/`)).toBe('invite')
    const { code, invite } = await tellRelay({ DATA_DIR: relay.dataDir }, 'invites.make', {
      ...{ uses: 1, days: null, note: '' },
    })
    expect(invite.state).toBe('open')
    const open = () => SottoClient.open({ relayUrl: relay.url, store: new MemoryStore() })
    const [refused, taken] = [await open(), await open()]
    expect(await failureOf(refused.create({ nickname: 'eve' }))).toMatchObject({ refusal: 'INVITE_REQUIRED' })
    await taken.create({ nickname: 'alice', invite: code })
    const again = await failureOf(refused.create({ nickname: 'eve', invite: code }))
    expect(again).toMatchObject({ refusal: 'INVITE_INVALID', message: expect.stringContaining('is used up') })
    const gone = await failureOf(refused.recover({ mnemonic: await newPhrase() }))
    expect(gone).toMatchObject({ code: 'ACCOUNT_NOT_FOUND' })
    for (const client of [refused, taken]) await client.close()
  } finally {
    await relay.stop()
  }
  expect(await failureOf(registrationMode(relay.url))).toMatchObject({ code: 'NETWORK' })
  const aborted = registrationMode(relay.url, { signal: AbortSignal.abort() })
  expect(await failureOf(aborted)).toMatchObject({ code: 'ABORTED' })
})

test('a member invites people, as many as the relay allows', async () => {
  const relay = await startRelay({ env: { INVITES_BY_MEMBERS: '1' } })
  const open = () => SottoClient.open({ relayUrl: relay.url, store: new MemoryStore() })
  const [alice, bob] = [await open(), await open()]
  try {
    const invites = new Invites(alice)
    expect(await failureOf(invites.list())).toMatchObject({ code: 'NO_IDENTITY' })
    await alice.create({ nickname: 'alice' })
    const made = await invites.make()
    expect(await failureOf(invites.make())).toMatchObject({ refusal: 'TOO_MANY_INVITES' })
    await bob.create({ nickname: 'bob', invite: made.code })
    const { left, invites: list } = await invites.list()
    // A relay that is open uses none up.
    expect([left, list.map(({ state }) => state)]).toEqual([0, ['open']])
    await invites.revoke(made.invite_id)
    expect(await invites.list()).toMatchObject({ left: 1, invites: [{ state: 'revoked' }] })
    expect(await failureOf(invites.revoke('0000000000'))).toMatchObject({ refusal: 'NOT_FOUND' })
  } finally {
    for (const client of [alice, bob]) await client.close()
    await relay.stop()
  }
})

test('registration reports six steps in order, and the done work as a share of the expected work', async () => {
  const person = await hardWorld.open('someone')
  const reports: RegistrationProgress[] = []
  await person.client.create({ nickname: 'alice', onProgress: (progress) => reports.push(progress) })
  expect(stepsOf(reports)).toEqual([
    '1 derive_keys',
    '2 proof_of_work',
    '3 register',
    '4 challenge',
    '5 sign',
    '6 verify',
  ])
  const shares = reports.flatMap(({ shareOfExpectedWork: share }) => (share === undefined ? [] : [share]))
  expect(shares).toEqual(shares.toSorted((a, b) => a - b))
  for (const share of shares) expect(share).toBeGreaterThan(0)
})

test('a recovery needs no proof of work', async () => {
  const first = await world.open('someone')
  const { mnemonic } = await first.client.create({ nickname: 'alice' })
  const reports: RegistrationProgress[] = []
  const second = await world.open('someone')
  await second.client.recover({ mnemonic, onProgress: (progress) => reports.push(progress) })
  expect(stepsOf(reports)).toEqual(['1 derive_keys', '3 register', '4 challenge', '5 sign', '6 verify'])
})

test('an abort signal ends registration at any step and leaves the device unchanged', async () => {
  const steps: RegistrationStep[] = [
    'derive_keys',
    'proof_of_work',
    'register',
    'challenge',
    'sign',
    'verify',
  ]
  for (const last of steps) {
    const person = await world.open('someone')
    const abort = new AbortController()
    const creation = person.client.create({
      nickname: 'alice',
      signal: abort.signal,
      onProgress: ({ step }) => {
        if (step === last) abort.abort('changed my mind')
      },
    })
    expect(await failureOf(creation)).toMatchObject({ code: 'ABORTED', cause: 'changed my mind' })
    expect(person.client.identity).toBeUndefined()
    expect(await person.store.getIdentity()).toBeUndefined()
    // The same client can register again.
    if (last === 'verify') await person.client.create({ nickname: 'alice' })
  }
})

test('a client that is closed while it creates an identity stores none', async () => {
  for (let step = 0; step < 25; step += 1) {
    const store = new MemoryStore()
    const client = await SottoClient.open({ relayUrl: world.relay.url, store })
    const creation = client.create({ nickname: 'alice' }).catch((error: { code: string }) => error.code)
    for (let passed = 0; passed < step; passed += 1) await null
    await client.close()
    expect([step, await creation]).toEqual([step, 'CLOSED'])
    store.reopen()
    expect(await store.getIdentity()).toBeUndefined()
  }
})

test('closing the client ends a registration, so that no account is registered afterwards', async () => {
  const recorder = new Recorder()
  const { promise: begun, resolve: begin } = Promise.withResolvers<AbortSignal | undefined>()
  const person = await world.open('someone', {
    fetch: recorder.fetch,
    solveProofOfWork: ({ signal }) => {
      begin(signal)
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  const creation = failureOf(person.client.create({ nickname: 'alice' }))
  const signal = await begun
  await person.client.close()
  expect(signal?.aborted).toBe(true)
  expect(await creation).toMatchObject({ code: 'CLOSED' })
  expect(recorder.callsOf('/api/v1/register')).toEqual([])
})

test('closing the client aborts the request that registers the account', async () => {
  let aborted: boolean | undefined
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const person = await world.open('someone', {
    fetch: (url, init) => {
      if (!url.endsWith('/register')) return fetch(url, init)
      begin()
      return new Promise((_, reject) =>
        init.signal?.addEventListener('abort', () => {
          aborted = true
          reject(init.signal?.reason)
        }),
      )
    },
  })
  const creation = failureOf(person.client.create({ nickname: 'alice' }))
  await begun
  await person.client.close()
  expect(await creation).toMatchObject({ code: 'CLOSED' })
  expect(aborted).toBe(true)
})

test('of two identities created at once the client keeps the first', async () => {
  const person = await world.open('someone')
  const mnemonic = await newPhrase()
  // The first call has to generate a phrase. The second call has one, so it could overtake the first.
  const [first, second] = await Promise.allSettled([
    person.client.create({ nickname: 'first' }),
    person.client.create({ nickname: 'second', mnemonic }),
  ])
  expect(first).toMatchObject({ status: 'fulfilled', value: { nickname: 'first' } })
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'IDENTITY_EXISTS' } })
  expect((await person.store.getIdentity())?.nickname).toBe('first')
})

test('an abort signal ends the proof of work before it is solved', async () => {
  const works: ProofOfWork[] = []
  const person = await world.open('someone', {
    solveProofOfWork: (work) => {
      works.push(work)
      // At this difficulty the work would never end.
      return solveInSlices(systemClock)({ ...work, difficulty: 12, maxAttempts: Number.POSITIVE_INFINITY })
    },
  })
  const abort = new AbortController()
  let reports = 0
  const creation = person.client.create({
    nickname: 'alice',
    signal: abort.signal,
    onProgress: ({ shareOfExpectedWork }) => {
      if (shareOfExpectedWork !== undefined) reports += 1
      if (reports === 3) abort.abort()
    },
  })
  expect(await failureOf(creation)).toMatchObject({ code: 'ABORTED' })
  expect(works.length).toBe(1)
})

test('the client uses the application’s proof-of-work solver', async () => {
  const works: ProofOfWork[] = []
  const person = await world.open('someone', {
    solveProofOfWork: (work) => {
      works.push(work)
      return solveInSlices(systemClock)(work)
    },
  })
  await person.client.create({ nickname: 'alice' })
  expect(works).toMatchObject([{ difficulty: 1, maxAttempts: 64 * 16 }])
})

test('the client solves the proof of work at most three times if the relay refuses it', async () => {
  let works = 0
  const person = await hardWorld.open('someone', {
    solveProofOfWork: async () => {
      works += 1
      return 'wrong'
    },
  })
  expect(await failureOf(person.client.create({ nickname: 'alice' }))).toMatchObject({
    refusal: 'POW_INVALID',
  })
  expect(works).toBe(3)
})

test('a progress handler that throws ends registration with HANDLER_FAILED', async () => {
  const person = await world.open('someone')
  const creation = person.client.create({
    nickname: 'alice',
    onProgress: () => {
      throw new TypeError('a bug in the application')
    },
  })
  expect(await failureOf(creation)).toMatchObject({ code: 'HANDLER_FAILED' })
})

test('recovery ignores case and white space in the phrase', async () => {
  const mnemonic = await newPhrase()
  const first = await world.open('someone')
  const { uuid } = await first.client.create({ nickname: 'alice', mnemonic })
  const second = await world.open('someone')
  const typed = `  ${mnemonic.toUpperCase().replaceAll(' ', '\n ')} `
  expect(await second.client.recover({ mnemonic: typed })).toMatchObject({ uuid, mnemonic })
})

test('what a store without an identity still has is cleared, because nothing says whose it is', async () => {
  const first = await world.open('someone')
  const { mnemonic } = await first.client.create({ nickname: 'alice' })
  const rest = async () => {
    const store = new MemoryStore()
    await store.write([{ change: 'read_mark', mark: { conversationId, readSeq: 4, toldSeq: 4 } }])
    return world.open('someone', { store })
  }
  const [recovered, fresh] = [await rest(), await rest()]
  await recovered.client.recover({ mnemonic })
  await fresh.client.create({ nickname: 'bob' })
  for (const { store } of [recovered, fresh]) expect(await store.listReadMarks()).toEqual([])
})
