import { describe, expect, test } from 'bun:test'
import { sha256 } from '@noble/hashes/sha2.js'
import fc from 'fast-check'
import { anyCharacter, anyString, expectCode, vectors } from '../test/expectations.ts'
import { encodeUtf8 } from './bytes.ts'
import { bytesToHex } from './hex.ts'
import { solveProofOfWorkByNoble } from './noble-proof-of-work.ts'
import { type SolveProofOfWorkInput, searchNonce } from './nonce-search.ts'
import { solveProofOfWork, verifyProofOfWork } from './proof-of-work.ts'
import { webPrimitives } from './web-primitives.ts'

const web = webPrimitives(crypto.subtle)

const solvers = {
  'with the primitives of this runtime': solveProofOfWork,
  'by noble, in a worker': solveProofOfWorkByNoble,
  'by WebCrypto': (input: SolveProofOfWorkInput) => searchNonce(web.findNonce, input),
}

for (const [name, solve] of Object.entries(solvers)) {
  describe(name, () => {
    for (const { challenge_string: challenge, difficulty, first_nonce } of vectors.pow) {
      test(`the first nonce of "${challenge}" with ${difficulty} zeros is found, in steps of any size`, async () => {
        for (const attemptsPerStep of [undefined, 7, 100, 512, 1000]) {
          // No pauses with steps of 7, because there would be thousands of them.
          const pause = attemptsPerStep === 7 ? () => Promise.resolve() : undefined
          expect(await solve({ challenge, difficulty, attemptsPerStep, pause })).toBe(first_nonce)
        }
      })
    }

    test('it finds the first nonce whose hex hash begins with the zeros, for challenges of any length', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.string({ minLength: 1, maxLength: 150, unit: anyCharacter() }),
          fc.integer({ min: 0, max: 2 }),
          async (challenge, difficulty) => {
            const zeros = '0'.repeat(difficulty)
            let nonce = 0
            while (!bytesToHex(sha256(encodeUtf8(`${challenge}${nonce}`))).startsWith(zeros)) nonce += 1
            expect(await solve({ challenge, difficulty })).toBe(String(nonce))
          },
        ),
        { numRuns: 60 },
      )
    })

    test('it makes the last allowed attempt and no more', async () => {
      const { challenge_string: challenge = '', difficulty = 0, first_nonce = '' } = vectors.pow[1] ?? {}
      const attempts = Number(first_nonce) + 1
      for (const attemptsPerStep of [undefined, 100, attempts - 1, attempts, attempts + 1]) {
        const work = { challenge, difficulty, attemptsPerStep }
        expect(await solve({ ...work, maxAttempts: attempts })).toBe(first_nonce)
        await expectCode('WORK_NOT_FOUND', () => solve({ ...work, maxAttempts: attempts - 1 }))
      }
    })

    test('it reports progress after each step and stops after the maximum number of attempts', async () => {
      for (const [attemptsPerStep, expected] of [
        [300, [300, 600, 900]],
        [500, [500, 1000]],
      ] as const) {
        const told: number[] = []
        const onProgress = (attempts: number): void => void told.push(attempts)
        const hopeless = { challenge: 'x', difficulty: 64, maxAttempts: 1000, attemptsPerStep }
        await expectCode('WORK_NOT_FOUND', () => solve({ ...hopeless, onProgress }))
        expect(told).toEqual([...expected])
      }
    })

    test('it pauses after each step, and an abort during the pause stops it', async () => {
      const abort = new AbortController()
      let pauses = 0
      const pause = async (): Promise<void> => {
        pauses += 1
        if (pauses === 3) abort.abort()
      }
      const endless = { challenge: 'x', difficulty: 64, attemptsPerStep: 50, signal: abort.signal }
      await expectCode('ABORTED', () => solve({ ...endless, pause }))
      expect(pauses).toBe(3)
      await expectCode('ABORTED', () => solve(endless))
    })

    test('invalid arguments are refused', async () => {
      for (const difficulty of [-1, 0.5, 65, Number.NaN])
        await expectCode('INVALID_ARGUMENT', () => solve({ challenge: 'x', difficulty }))
      await expectCode('INVALID_ARGUMENT', () => solve({ challenge: '', difficulty: 1 }))
      for (const number of [0, 0.5, -1, Number.NaN]) {
        const work = { challenge: 'x', difficulty: 1 }
        await expectCode('INVALID_ARGUMENT', () => solve({ ...work, maxAttempts: number }))
        await expectCode('INVALID_ARGUMENT', () => solve({ ...work, attemptsPerStep: number }))
      }
    })
  })
}

test('the event loop runs between steps by default', async () => {
  for (const solve of [solvers['with the primitives of this runtime'], solvers['by WebCrypto']]) {
    const abort = new AbortController()
    setTimeout(() => abort.abort(), 5)
    const endless = { challenge: 'x', difficulty: 64, attemptsPerStep: 50, signal: abort.signal }
    await expectCode('ABORTED', () => solve(endless))
  }
})

test('the solutions of the vectors are valid, and similar ones are not', async () => {
  for (const { challenge_string: challenge, difficulty, first_nonce } of vectors.pow) {
    expect(await verifyProofOfWork({ challenge, nonce: first_nonce, difficulty })).toBe(true)
    expect(await verifyProofOfWork({ challenge, nonce: `${first_nonce}0`, difficulty })).toBe(false)
    expect(await verifyProofOfWork({ challenge: `${challenge}x`, nonce: first_nonce, difficulty })).toBe(
      false,
    )
  }
})

test('verifying counts hex zeros, for any nonce', async () => {
  await fc.assert(
    fc.asyncProperty(anyString(), fc.integer({ min: 0, max: 3 }), async (nonce, difficulty) => {
      const hash = bytesToHex(sha256(encodeUtf8(`challenge${nonce}`)))
      const solved = nonce !== '' && hash.startsWith('0'.repeat(difficulty))
      expect(await verifyProofOfWork({ challenge: 'challenge', nonce, difficulty })).toBe(solved)
    }),
  )
})

test('one zero of difficulty is exactly half a byte', async () => {
  for (let nonce = 0; nonce < 2000; nonce += 1) {
    const hash = bytesToHex(sha256(encodeUtf8(`challenge${nonce}`)))
    const solved = await verifyProofOfWork({ challenge: 'challenge', nonce: String(nonce), difficulty: 1 })
    expect(solved).toBe(hash.startsWith('0'))
  }
})

test('verifying refuses an invalid difficulty', async () => {
  for (const difficulty of [-1, 0.5, 65, Number.NaN])
    await expectCode('INVALID_ARGUMENT', () => verifyProofOfWork({ challenge: 'x', nonce: '0', difficulty }))
})
