// The record of what the operator did to accounts and channels: who, when, what and why.
import * as v from 'valibot'
import { listLimit, type OperatorCommand, operatorCommand } from '../listener/operator-command.ts'
import type { Sql, Storage } from '../storage/storage.ts'

const line = (most: number) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.maxLength(most),
    v.regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be one line without control characters'),
  )
const needed = (most: number) => v.pipe(line(most), v.minLength(1, 'is missing'))

/** The operator's name and reason, as the fields of a command. Both are recorded. */
export const by = { who: needed(64), why: needed(500) }
/** The same for a deed that needs no reason. */
export const byAnyone = { who: v.optional(needed(64), 'unknown'), why: v.optional(line(500), '') }

/**
 * Patterns of LIKE, with a backslash as the escape, for columns that begin with a text or contain it: as it
 * was typed, and in small letters for a column in `LOWER()`. That function changes only ASCII on SQLite, so a
 * name with other letters is found as it was typed.
 */
export function likePatterns(text: string): { start: string; typed: string; lowered: string } {
  const [typed, lowered] = [escapedForLike(text), escapedForLike(text.toLowerCase())]
  return { start: `${lowered}%`, typed: `%${typed}%`, lowered: `%${lowered}%` }
}

function escapedForLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}

/** A deed to record. */
export interface Deed {
  /** In milliseconds since 1970. */
  readonly at: number
  readonly who: string
  /** The name of the command. */
  readonly what: string
  /** The alias, channel or post that it was done to. */
  readonly object: string
  /** Empty if no reason was needed. */
  readonly why: string
}

/** Records a deed, in the transaction that does it. */
export async function addDeed(sql: Sql, { at, who, what, object, why }: Deed): Promise<void> {
  await sql`INSERT INTO deeds (at, who, what, object, why) VALUES (${at}, ${who}, ${what}, ${object}, ${why})`
}

/** A deed as it is shown. `at` is ISO 8601. */
const DeedLine = v.object({
  at: v.string(),
  who: v.string(),
  what: v.string(),
  object: v.string(),
  why: v.string(),
})
/** See {@link DeedLine}. */
export type DeedLine = v.InferOutput<typeof DeedLine>

/** The schema of each command's answer. */
export const deedAnswers = { 'deeds.list': v.array(DeedLine) } as const

/** The commands, by name. */
export function deedCommands({
  storage,
}: {
  storage: Storage
}): Readonly<Record<keyof typeof deedAnswers, OperatorCommand>> {
  return {
    /** Lists deeds, the newest first: all, or those done to one object. */
    'deeds.list': operatorCommand(
      v.object({ object: v.optional(v.string()), limit: listLimit }),
      async ({ object, limit }): Promise<DeedLine[]> => {
        const rows = await storage.sql<Deed>`
          SELECT at, who, what, object, why FROM deeds
          WHERE (${object ?? ''} = '' OR object = ${object ?? ''}) ORDER BY id DESC LIMIT ${limit}`
        return rows.map((row) => ({ ...row, at: new Date(row.at).toISOString() }))
      },
    ),
  }
}
