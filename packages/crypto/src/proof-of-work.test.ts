import { expect, test } from 'bun:test'
import { sha256 } from '@noble/hashes/sha2.js'
import fc from 'fast-check'
import { encodeUtf8 } from './bytes.ts'
import { bytesToHex } from './hex.ts'
import { solveProofOfWork, solveProofOfWorkInSteps, verifyProofOfWork } from './proof-of-work.ts'
import { anyString, expectCode, vectors } from './test-support.ts'

for (const { challenge_string: challenge, difficulty, first_nonce } of vectors.pow) {
  test(`the first nonce of "${challenge}" at ${difficulty} zeros`, async () => {
    expect(solveProofOfWork({ challenge, difficulty })).toBe(first_nonce)
    expect(await solveProofOfWorkInSteps({ challenge, difficulty, attemptsPerStep: 100 })).toBe(first_nonce)
    expect(verifyProofOfWork({ challenge, nonce: first_nonce, difficulty })).toBe(true)
    expect(verifyProofOfWork({ challenge, nonce: `${first_nonce}0`, difficulty })).toBe(false)
    expect(verifyProofOfWork({ challenge: `${challenge}x`, nonce: first_nonce, difficulty })).toBe(false)
  })
}

test('the nonce found is the first one whose hex hash begins with the zeros, for challenges of any length', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 150, unit: 'binary' }),
      fc.integer({ min: 0, max: 2 }),
      (challenge, difficulty) => {
        const zeros = '0'.repeat(difficulty)
        let nonce = 0
        while (!bytesToHex(sha256(encodeUtf8(`${challenge}${nonce}`))).startsWith(zeros)) nonce += 1
        expect(solveProofOfWork({ challenge, difficulty })).toBe(String(nonce))
      },
    ),
    { numRuns: 60 },
  )
})

test('verifying counts hex zeros, for any string as a nonce', () => {
  fc.assert(
    fc.property(anyString(), fc.integer({ min: 0, max: 3 }), (nonce, difficulty) => {
      const hash = bytesToHex(sha256(encodeUtf8(`challenge${nonce}`)))
      const solved = nonce !== '' && hash.startsWith('0'.repeat(difficulty))
      expect(verifyProofOfWork({ challenge: 'challenge', nonce, difficulty })).toBe(solved)
    }),
  )
})

test('an odd zero is half a byte, no more and no less', () => {
  for (let nonce = 0; nonce < 2000; nonce += 1) {
    const hash = bytesToHex(sha256(encodeUtf8(`challenge${nonce}`)))
    const solved = verifyProofOfWork({ challenge: 'challenge', nonce: String(nonce), difficulty: 1 })
    expect(solved).toBe(hash.startsWith('0'))
  }
})

test('the last attempt allowed is made', async () => {
  const { challenge_string: challenge = '', difficulty = 0, first_nonce = '' } = vectors.pow[1] ?? {}
  const attempts = Number(first_nonce) + 1
  expect(solveProofOfWork({ challenge, difficulty, maxAttempts: attempts })).toBe(first_nonce)
  await expectCode('WORK_NOT_FOUND', () =>
    solveProofOfWork({ challenge, difficulty, maxAttempts: attempts - 1 }),
  )
})

test('progress is told after each step, and the attempts have an end', async () => {
  const told: number[] = []
  const hopeless = { challenge: 'x', difficulty: 64, maxAttempts: 1000, attemptsPerStep: 300 }
  await expectCode('WORK_NOT_FOUND', () =>
    solveProofOfWork({ ...hopeless, onProgress: (attempts) => told.push(attempts) }),
  )
  expect(told).toEqual([300, 600, 900])
  await expect(solveProofOfWorkInSteps(hopeless)).rejects.toMatchObject({ code: 'WORK_NOT_FOUND' })
})

test('the event loop turns between steps, and an abort is heard there', async () => {
  const abort = new AbortController()
  setTimeout(() => abort.abort(), 5)
  const endless = { challenge: 'x', difficulty: 64, attemptsPerStep: 50, signal: abort.signal }
  await expect(solveProofOfWorkInSteps(endless)).rejects.toMatchObject({ code: 'ABORTED' })
})

test('nonsense is refused', async () => {
  for (const difficulty of [-1, 0.5, 65, Number.NaN]) {
    await expectCode('INVALID_ARGUMENT', () => solveProofOfWork({ challenge: 'x', difficulty }))
    await expectCode('INVALID_ARGUMENT', () => verifyProofOfWork({ challenge: 'x', nonce: '0', difficulty }))
  }
  await expectCode('INVALID_ARGUMENT', () => solveProofOfWork({ challenge: '', difficulty: 1 }))
  await expectCode('INVALID_ARGUMENT', () =>
    solveProofOfWork({ challenge: 'x', difficulty: 1, maxAttempts: 0 }),
  )
  await expectCode('INVALID_ARGUMENT', () =>
    solveProofOfWork({ challenge: 'x', difficulty: 1, attemptsPerStep: Number.NaN }),
  )
})
