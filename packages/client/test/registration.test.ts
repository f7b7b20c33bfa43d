// Registering, watched and ended: what is told of it, who does the work, and what is left when it is given up.
import { expect, setDefaultTimeout, test } from 'bun:test'
import {
  generateMnemonic,
  MemoryStore,
  type ProofOfWork,
  type RegistrationProgress,
  type RegistrationStep,
  SottoClient,
} from '../src/client.ts'
import { systemClock } from '../src/options.ts'
import { solveInSlices } from '../src/proof-of-work.ts'
import { PeopleWorld } from './people-world.ts'

// A busy machine is slow; what a test waits for says itself what did not come.
setDefaultTimeout(60_000)

const world = new PeopleWorld({ LIMIT_POW_DIFFICULTY: '4' })

const newPhrase = () => generateMnemonic((length) => crypto.getRandomValues(new Uint8Array(length)))

function stepsOf(told: readonly RegistrationProgress[]): string[] {
  return told.map(({ step, number }) => `${number} ${step}`).filter((line, at, all) => line !== all[at - 1])
}

test('six steps are told in order, and the work in shares of what is expected', async () => {
  const person = await world.open('someone')
  const told: RegistrationProgress[] = []
  await person.client.create({ nickname: 'alice', onProgress: (progress) => told.push(progress) })
  expect(stepsOf(told)).toEqual([
    '1 derive_keys',
    '2 proof_of_work',
    '3 register',
    '4 challenge',
    '5 sign',
    '6 verify',
  ])
  const shares = told.flatMap(({ shareOfExpectedWork: share }) => (share === undefined ? [] : [share]))
  expect(shares).toEqual(shares.toSorted((a, b) => a - b))
  for (const share of shares) expect(share).toBeGreaterThan(0)
})

test('a recovery needs no work', async () => {
  const first = await world.open('someone')
  const { mnemonic } = await first.client.create({ nickname: 'alice' })
  const told: RegistrationProgress[] = []
  const second = await world.open('someone')
  await second.client.recover({ mnemonic, onProgress: (progress) => told.push(progress) })
  expect(stepsOf(told)).toEqual(['1 derive_keys', '3 register', '4 challenge', '5 sign', '6 verify'])
})

test('a signal ends it at any step, and nothing on the device has changed', async () => {
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
    await expect(creation).rejects.toMatchObject({ code: 'ABORTED', cause: 'changed my mind' })
    expect(person.client.identity).toBeUndefined()
    expect(await person.store.getIdentity()).toBeUndefined()
    // And it can be begun again.
    if (last === 'verify') await person.client.create({ nickname: 'alice' })
  }
})

test('a client closed at any moment while it begins an identity has made none', async () => {
  for (let step = 0; step < 25; step += 1) {
    const store = new MemoryStore()
    const client = await SottoClient.open({ relayUrl: world.relay.url, store })
    const creation = client.create({ nickname: 'alice' }).catch((error: { code: string }) => error.code)
    for (let turn = 0; turn < step; turn += 1) await null
    await client.close()
    expect([step, await creation]).toEqual([step, 'CLOSED'])
    store.reopen()
    expect(await store.getIdentity()).toBeUndefined()
  }
})

test('of two identities made at once a device has the first', async () => {
  const person = await world.open('someone')
  const mnemonic = await newPhrase()
  // The first has to make its words, which the second has.
  const [first, second] = await Promise.allSettled([
    person.client.create({ nickname: 'first' }),
    person.client.create({ nickname: 'second', mnemonic }),
  ])
  expect(first).toMatchObject({ status: 'fulfilled', value: { nickname: 'first' } })
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'IDENTITY_EXISTS' } })
  expect((await person.store.getIdentity())?.nickname).toBe('first')
})

test('a signal ends the work in the middle', async () => {
  const works: ProofOfWork[] = []
  const person = await world.open('someone', {
    solveProofOfWork: (work) => {
      works.push(work)
      // So hard that it would take for ever.
      return solveInSlices(systemClock)({ ...work, difficulty: 12, maxAttempts: Number.POSITIVE_INFINITY })
    },
  })
  const abort = new AbortController()
  let told = 0
  const creation = person.client.create({
    nickname: 'alice',
    signal: abort.signal,
    onProgress: ({ shareOfExpectedWork }) => {
      if (shareOfExpectedWork !== undefined) told += 1
      if (told === 3) abort.abort()
    },
  })
  await expect(creation).rejects.toMatchObject({ code: 'ABORTED' })
  expect(works.length).toBe(1)
})

test('the work is done by whoever was handed in', async () => {
  const works: ProofOfWork[] = []
  const person = await world.open('someone', {
    solveProofOfWork: (work) => {
      works.push(work)
      return solveInSlices(systemClock)(work)
    },
  })
  await person.client.create({ nickname: 'alice' })
  expect(works).toMatchObject([{ difficulty: 4, maxAttempts: 64 * 16 ** 4 }])
})

test('wrong work is refused by the relay and done again, three times at most', async () => {
  let works = 0
  const person = await world.open('someone', {
    solveProofOfWork: async () => {
      works += 1
      return 'wrong'
    },
  })
  await expect(person.client.create({ nickname: 'alice' })).rejects.toMatchObject({ refusal: 'POW_INVALID' })
  expect(works).toBe(3)
})

test('a handler that throws ends it with its own error', async () => {
  const person = await world.open('someone')
  const creation = person.client.create({
    nickname: 'alice',
    onProgress: () => {
      throw new TypeError('a bug in the application')
    },
  })
  await expect(creation).rejects.toMatchObject({ code: 'HANDLER_FAILED' })
})

test('the words of a phrase are what counts, not how they are typed', async () => {
  const mnemonic = await newPhrase()
  const first = await world.open('someone')
  const { uuid } = await first.client.create({ nickname: 'alice', mnemonic })
  const second = await world.open('someone')
  const typed = `  ${mnemonic.toUpperCase().replaceAll(' ', '\n ')} `
  expect(await second.client.recover({ mnemonic: typed })).toMatchObject({ uuid, mnemonic })
})
