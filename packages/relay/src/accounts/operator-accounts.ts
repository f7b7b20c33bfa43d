// The operator's commands about accounts, and their answers.
import { AliasId } from '@sotto/protocol'
import * as v from 'valibot'
import type { Bus } from '../cluster/bus.ts'
import { type OperatorCommand, OperatorRefusal, operatorCommand } from '../listener/operator-command.ts'
import type { Clock } from '../operations/clock.ts'
import type { AccountId, Storage } from '../storage/storage.ts'
import { logOutEverywhere } from './logouts.ts'

/** The schema of each command's answer. */
export const accountAnswers = {
  'accounts.log-out': v.object({ alias_id: v.string() }),
} as const

/** The commands, by name. */
export function accountCommands(parts: {
  storage: Storage
  bus: Bus
  clock: Clock
}): Readonly<Record<keyof typeof accountAnswers, OperatorCommand>> {
  return {
    /** Makes every token of an account dead. The alias may be a former one; the answer has the new one. */
    'accounts.log-out': operatorCommand(v.object({ alias_id: AliasId }), async ({ alias_id }) => {
      const [account] = await parts.storage.sql<{ id: AccountId; alias_id: string }>`
        SELECT accounts.id, accounts.alias_id FROM aliases JOIN accounts ON accounts.id = account_id
        WHERE aliases.alias_id = ${alias_id} AND deleted_at IS NULL`
      if (!account) throw new OperatorRefusal(`no account has the alias ${alias_id}`)
      await logOutEverywhere(account.id, parts)
      return { alias_id: account.alias_id }
    }),
  }
}
