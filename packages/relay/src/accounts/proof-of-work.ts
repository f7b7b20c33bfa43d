// Proof of work for registration. It makes registering many accounts expensive.
import { createHash } from 'node:crypto'
import { type Limits, ProtocolError } from '@sotto/protocol'
import type { Difficulty } from '../admission/admission.ts'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import type { Sql, Storage } from '../storage/storage.ts'

interface Parts {
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly limits: Limits
  readonly difficulty: Difficulty
}

interface OpenChallenge {
  challenge: string
  difficulty: number
}

/**
 * Opens a challenge for an address. It stays open until it is used or expires: if newer challenges closed it,
 * a stranger who shares the address could undo work that is already done.
 */
export async function openPowChallenge(
  storage: Storage,
  address: string,
  parts: Parts,
): Promise<{ challenge_string: string; difficulty: number; expires_in: number }> {
  const challenge = randomText(parts.randomBytes, 18)
  const { powSeconds } = parts.limits
  const difficulty = parts.difficulty.current()
  const expiresAt = parts.clock.now() + powSeconds * 1000
  await storage.unsyncedTransaction(
    (sql) => sql`
      INSERT INTO pow_challenges (challenge, address, difficulty, expires_at)
      VALUES (${challenge}, ${address}, ${difficulty}, ${expiresAt})`,
  )
  return { challenge_string: challenge, difficulty, expires_in: powSeconds }
}

/**
 * The open challenge that a nonce solves. Published clients do not name the challenge they solved; for them,
 * the challenges that are open for their address are tried, the newest first. The rate of challenges keeps
 * their number below `mostTried`.
 * @throws ProtocolError `POW_REQUIRED` if no challenge is open or the nonce is missing, `POW_INVALID` if the
 *   nonce solves none. The challenges stay open.
 */
export async function findSolvedChallenge(
  sql: Sql,
  work: { address: string; nonce: string | undefined; challenge: string | undefined },
  { now, mostTried }: { now: number; mostTried: number },
): Promise<string> {
  const open =
    work.challenge === undefined
      ? await sql<OpenChallenge>`
          SELECT challenge, difficulty FROM pow_challenges
          WHERE address = ${work.address} AND expires_at > ${now}
          ORDER BY expires_at DESC LIMIT ${mostTried}`
      : await sql<OpenChallenge>`
          SELECT challenge, difficulty FROM pow_challenges
          WHERE challenge = ${work.challenge} AND expires_at > ${now}`
  const { nonce } = work
  if (open.length === 0 || nonce === undefined) throw new ProtocolError('POW_REQUIRED')
  const solved = open.find(({ challenge, difficulty }) => solves(challenge, nonce, difficulty))
  if (!solved) throw new ProtocolError('POW_INVALID')
  return solved.challenge
}

/** Removes a solved challenge. @returns false if it was used already */
export async function usePowChallenge(sql: Sql, challenge: string): Promise<boolean> {
  const rows = await sql<{ challenge: string }>`
    DELETE FROM pow_challenges WHERE challenge = ${challenge} RETURNING challenge`
  return rows.length > 0
}

function solves(challenge: string, nonce: string, difficulty: number): boolean {
  const digest = createHash('sha256')
    .update(challenge + nonce)
    .digest('hex')
  return digest.startsWith('0'.repeat(difficulty))
}
