// Reports by people: taken from the endpoint, read and done by the operator.
import { ProtocolError, type ReportBody } from '@sotto/protocol'
import * as v from 'valibot'
import { findAccountByAlias, lockAccounts } from '../accounts/accounts.ts'
import {
  listLimit,
  type OperatorCommand,
  OperatorRefusal,
  operatorCommand,
} from '../listener/operator-command.ts'
import type { Handlers } from '../listener/route.ts'
import type { Clock } from '../operations/clock.ts'
import type { AccountId, Sql, Storage } from '../storage/storage.ts'
import { addDeed, byAnyone } from './deeds.ts'

/** How many reports of one account are kept. A new one replaces the oldest. */
const MOST_OF_ONE = 100
/** How long a report is kept, done or not. */
const KEPT_MS = 180 * 86_400_000
const ERASED_PER_PASS = 500

interface ReportParts {
  readonly storage: Storage
  readonly clock: Clock
}

/** A report as the operator sees it. Times are ISO 8601. */
const ReportLine = v.object({
  id: v.number(),
  about: v.string(),
  /** The alias, or the ids of the channel and the post. */
  object: v.string(),
  /** The present alias of the reporter. */
  reporter: v.string(),
  reason: v.string(),
  has_content: v.boolean(),
  reported_at: v.string(),
  done_at: v.nullable(v.string()),
})
/** See {@link ReportLine}. */
export type ReportLine = v.InferOutput<typeof ReportLine>
const ReportDetail = v.object({
  ...ReportLine.entries,
  /** What the reporter attached. */
  content: v.nullable(v.string()),
  /** The text of the reported post; null if the report is about something else, or the post is gone. */
  post: v.nullable(v.string()),
})
/** A report with all that it is about. */
export type ReportDetail = v.InferOutput<typeof ReportDetail>

/** The schema of each command's answer. */
export const reportAnswers = {
  'reports.list': v.array(ReportLine),
  'reports.show': ReportDetail,
  'reports.done': ReportLine,
} as const

/** The endpoint. */
export function reportRoutes({ storage, clock }: ReportParts): Handlers<'report'> {
  return {
    report: async ({ caller, body }) => {
      const object = await objectOf(storage.sql, body)
      const { about, reason, content = null } = body
      await storage.transaction(async (sql) => {
        if (!(await lockAccounts(sql, [caller.id]))) throw new ProtocolError('TOKEN_DEAD')
        await sql`
          INSERT INTO reports (reporter_id, about, object, reason, content, reported_at)
          VALUES (${caller.id}, ${about}, ${object}, ${reason}, ${content}, ${clock.now()})
          ON CONFLICT (reporter_id, about, object) DO UPDATE
          SET reason = ${reason}, content = ${content}, reported_at = ${clock.now()}, done_at = NULL`
        await sql`
          DELETE FROM reports WHERE id IN (
            SELECT id FROM reports WHERE reporter_id = ${caller.id}
            ORDER BY reported_at DESC, id DESC LIMIT 100 OFFSET ${MOST_OF_ONE})`
      })
    },
  }
}

// The account, channel or post must exist, so that nobody fills the list with names of nothing. Of a friend
// request, that is the account: the request itself may be gone already.
async function objectOf(sql: Sql, { about, alias_id, channel_id, post_id }: ReportBody): Promise<string> {
  if (about === 'account' || about === 'friend_request') {
    const account = await findAccountByAlias(sql, needed('alias_id', alias_id))
    if (!account) throw new ProtocolError('NOT_FOUND')
    return account.alias_id
  }
  const channel = needed('channel_id', channel_id)
  const post = about === 'post' ? needed('post_id', post_id) : ''
  const rows = await sql<{ id: number }>`
    SELECT id FROM channels WHERE channel_id = ${channel} AND (${post} = ''
      OR id IN (SELECT channel FROM channel_posts WHERE post_id = ${post}))`
  if (rows.length === 0) throw new ProtocolError('NOT_FOUND')
  return post === '' ? channel : `${channel} ${post}`
}

function needed<T>(field: string, value: T | undefined): T {
  if (value === undefined) throw new ProtocolError('INVALID_FIELD', { field, rule: 'is missing' })
  return value
}

/** The operator's commands, by name. */
export function reportCommands({
  storage,
  clock,
}: ReportParts): Readonly<Record<keyof typeof reportAnswers, OperatorCommand>> {
  const ById = { id: v.pipe(v.number(), v.integer()) }
  return {
    /** Lists reports, the newest first: those that are not done, or all. */
    'reports.list': operatorCommand(
      v.object({ all: v.optional(v.boolean(), false), limit: listLimit }),
      async ({ all, limit }): Promise<ReportLine[]> => {
        const rows = await storage.sql<ReportRow>`
          SELECT reports.*, accounts.alias_id AS reporter FROM reports JOIN accounts ON accounts.id = reporter_id
          WHERE (${all ? 1 : 0} = 1 OR done_at IS NULL) ORDER BY reported_at DESC, reports.id DESC LIMIT ${limit}`
        return rows.map(lineOf)
      },
    ),
    /** Shows a report with what the reporter attached, and with the post, which everybody can read. */
    'reports.show': operatorCommand(v.object(ById), async ({ id }): Promise<ReportDetail> => {
      const row = await getReport(storage.sql, id)
      return { ...lineOf(row), content: row.content, post: await postOf(storage.sql, row) }
    }),
    /** Records that a report was dealt with, and erases what the reporter attached. */
    'reports.done': operatorCommand(
      v.object({ ...ById, ...byAnyone }),
      async ({ id, ...deedBy }): Promise<ReportLine> => {
        await getReport(storage.sql, id)
        await storage.transaction(async (sql) => {
          await sql`UPDATE reports SET done_at = ${clock.now()}, content = NULL WHERE id = ${id}`
          await addDeed(sql, { at: clock.now(), what: 'reports.done', object: `report ${id}`, ...deedBy })
        })
        return lineOf(await getReport(storage.sql, id))
      },
    ),
  }
}

/** How many reports are not done. */
export async function countOpenReports(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }>`SELECT COUNT(*) AS count FROM reports WHERE done_at IS NULL`
  return row?.count ?? 0
}

/** Erases old reports. Runs periodically. */
export async function eraseOldReports({ storage, clock }: ReportParts): Promise<void> {
  await storage.transaction(
    (sql) => sql`
      DELETE FROM reports WHERE id IN (
        SELECT id FROM reports WHERE reported_at <= ${clock.now() - KEPT_MS} ORDER BY reported_at LIMIT ${ERASED_PER_PASS})`,
  )
}

/** Erases the reports of an account that is deleted. */
export async function eraseReportsOf(sql: Sql, account: AccountId): Promise<void> {
  await sql`DELETE FROM reports WHERE reporter_id = ${account}`
}

interface ReportRow {
  readonly id: number
  readonly about: string
  readonly object: string
  readonly reporter: string
  readonly reason: string
  readonly content: string | null
  readonly reported_at: number
  readonly done_at: number | null
}

async function getReport(sql: Sql, id: number): Promise<ReportRow> {
  const [row] = await sql<ReportRow>`
    SELECT reports.*, accounts.alias_id AS reporter FROM reports JOIN accounts ON accounts.id = reporter_id
    WHERE reports.id = ${id}`
  if (!row) throw new OperatorRefusal(`there is no report ${id}`)
  return row
}

async function postOf(sql: Sql, { about, object }: ReportRow): Promise<string | null> {
  if (about !== 'post') return null
  const [post] = await sql<{ content: string }>`
    SELECT content FROM channel_posts WHERE post_id = ${object.slice(object.indexOf(' ') + 1)}`
  return post?.content ?? null
}

function lineOf({
  id,
  about,
  object,
  reporter,
  reason,
  content,
  reported_at,
  done_at,
}: ReportRow): ReportLine {
  return {
    ...{ id, about, object, reporter, reason },
    has_content: content !== null,
    reported_at: new Date(reported_at).toISOString(),
    done_at: done_at === null ? null : new Date(done_at).toISOString(),
  }
}
