// The operator's commands about accounts, and their answers. Every change is recorded as a deed.
import { AliasId } from '@sotto/protocol'
import * as v from 'valibot'
import { logOutEverywhere } from '../accounts/accounts.ts'
import {
  listLimit,
  type OperatorCommand,
  OperatorRefusal,
  operatorCommand,
} from '../listener/operator-command.ts'
import { type AccountId, part, query, type Sql } from '../storage/storage.ts'
import {
  AccountDetail,
  AccountLine,
  type AccountRow,
  accountDetailOf,
  accountLineOf,
} from './account-details.ts'
import { addDeed, by, byAnyone, likePatterns } from './deeds.ts'
import { liftFrom, type SuspendingParts, suspendAccount } from './suspending.ts'

const ById = { alias_id: AliasId }
const Changed = v.object({ alias_id: v.string() })

/** The schema of each command's answer. */
export const accountAnswers = {
  'accounts.find': v.array(AccountLine),
  'accounts.show': AccountDetail,
  'accounts.log-out': Changed,
  'accounts.suspend': AccountLine,
  'accounts.lift': AccountLine,
  'accounts.delete': Changed,
} as const

/** What the commands are built from. */
export interface AccountCommandParts extends SuspendingParts {
  readonly deletion: {
    /** Deletes an account, and writes `together` in the same transaction. */
    delete(account: AccountId, together: (sql: Sql) => Promise<void>): Promise<void>
  }
}

/** The commands, by name. An alias may be a former one; the answer has the present one. */
export function accountCommands(
  parts: AccountCommandParts,
): Readonly<Record<keyof typeof accountAnswers, OperatorCommand>> {
  const { storage, clock, deletion } = parts
  const recorded =
    (what: string, { alias_id: object }: AccountRow, { who, why }: { who: string; why: string }) =>
    (sql: Sql): Promise<void> =>
      addDeed(sql, { at: clock.now(), who, what, object, why })
  return {
    /**
     * Lists accounts, the newest first: those whose alias begins with a text, or whose nickname contains it,
     * or whose uuid it is; or all that are suspended.
     */
    'accounts.find': operatorCommand(
      v.object({
        text: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(64)), ''),
        suspended: v.optional(v.boolean(), false),
        limit: listLimit,
      }),
      async ({ text, suspended, limit }): Promise<AccountLine[]> => {
        const { start, typed, lowered } = likePatterns(text)
        const rows = await storage.sql<AccountRow>(
          ...query`
            ${SELECT_ACCOUNTS} AND (${suspended ? 1 : 0} = 0 OR suspensions.account_id IS NOT NULL)
              AND (${text} = '' OR uuid = ${text.toLowerCase()}
                OR LOWER(nickname) LIKE ${lowered} ESCAPE '\\' OR nickname LIKE ${typed} ESCAPE '\\'
                OR accounts.id IN (SELECT account_id FROM aliases WHERE alias_id LIKE ${start} ESCAPE '\\'))
            ORDER BY accounts.id DESC LIMIT ${limit}`,
        )
        return rows.map(accountLineOf)
      },
    ),

    /** Shows what the relay knows about an account. */
    'accounts.show': operatorCommand(v.object(ById), async ({ alias_id }) =>
      accountDetailOf(storage.sql, await getAccount(storage.sql, alias_id)),
    ),

    /** Makes every token of an account dead. */
    'accounts.log-out': operatorCommand(
      v.object({ ...ById, ...byAnyone }),
      async ({ alias_id, ...deedBy }) => {
        const account = await getAccount(storage.sql, alias_id)
        await logOutEverywhere(account.id, parts, recorded('accounts.log-out', account, deedBy))
        return { alias_id: account.alias_id }
      },
    ),

    /**
     * Suspends an account, or changes its suspension. Its owner reads the reason. `until` is when it ends by
     * itself, in ISO 8601.
     */
    'accounts.suspend': operatorCommand(
      v.object({ ...ById, ...by, until: v.optional(v.pipe(v.string(), v.isoTimestamp())) }),
      async ({ alias_id, until, ...deedBy }): Promise<AccountLine> => {
        const endsAt = until === undefined ? null : Date.parse(until)
        if (endsAt !== null && endsAt <= clock.now())
          throw new OperatorRefusal(`the suspension would end at ${until}, which is over`)
        const account = await getAccount(storage.sql, alias_id)
        const suspension = { reason: deedBy.why, ends_at: endsAt }
        await suspendAccount(account.id, suspension, parts, recorded('accounts.suspend', account, deedBy))
        return accountLineOf(await getAccount(storage.sql, alias_id))
      },
    ),

    /** Lifts a suspension. What the account had sent is delivered. */
    'accounts.lift': operatorCommand(
      v.object({ ...ById, ...byAnyone }),
      async ({ alias_id, ...deedBy }): Promise<AccountLine> => {
        const account = await getAccount(storage.sql, alias_id)
        if (!(await liftFrom(account.id, parts, recorded('accounts.lift', account, deedBy))))
          throw new OperatorRefusal(`${account.alias_id} is not suspended`)
        return accountLineOf(await getAccount(storage.sql, alias_id))
      },
    ),

    /** Deletes an account, as its owner can. */
    'accounts.delete': operatorCommand(v.object({ ...ById, ...by }), async ({ alias_id, ...deedBy }) => {
      const account = await getAccount(storage.sql, alias_id)
      await deletion.delete(account.id, recorded('accounts.delete', account, deedBy))
      return { alias_id: account.alias_id }
    }),
  }
}

const SELECT_ACCOUNTS = part`
  SELECT accounts.id, uuid, accounts.alias_id, nickname, created_at, ed25519_public_key, x25519_public_key, since,
    ends_at, reason
  FROM accounts LEFT JOIN suspensions ON suspensions.account_id = accounts.id
  WHERE deleted_at IS NULL`

async function getAccount(sql: Sql, alias: AliasId): Promise<AccountRow> {
  const [row] = await sql<AccountRow>(
    ...query`
      ${SELECT_ACCOUNTS} AND accounts.id = (SELECT account_id FROM aliases WHERE alias_id = ${alias})`,
  )
  if (!row) throw new OperatorRefusal(`no account has the alias ${alias}`)
  return row
}
