// The operator's commands that a running relay carries out, or the store itself if no relay runs, and their
// answers.
import type * as v from 'valibot'
import { accountAnswers, accountCommands } from './accounts/operator-accounts.ts'
import { keyAnswers, keyCommands } from './accounts/operator-keys.ts'
import { RelayKeyRings, type RelayKeyRingsParts } from './accounts/relay-keys.ts'
import type { Bus } from './cluster/bus.ts'
import type { OperatorCommand } from './listener/operator-command.ts'
import type { Clock } from './operations/clock.ts'
import type { Log } from './operations/log.ts'
import { accountingAnswers, accountingCommands } from './payments/accounting.ts'
import type { PaymentLedger } from './payments/ledger.ts'
import { orderAnswers } from './payments/operator-answers.ts'
import { chainAnswers, chainCommands } from './payments/operator-chains.ts'
import { holdingAnswers, holdingCommands } from './payments/operator-holdings.ts'
import { orderCommands } from './payments/operator-orders.ts'
import type { PaymentMethods } from './payments/payment-methods.ts'
import { countSubscriptions, makeVapidSecret } from './push/push.ts'
import type { Storage } from './storage/storage.ts'

/** The schema of each command's answer. */
export const operatorAnswers = {
  ...orderAnswers,
  ...accountingAnswers,
  ...chainAnswers,
  ...holdingAnswers,
  ...accountAnswers,
  ...keyAnswers,
} as const
/** The names of the commands. */
export type OperatorCommandName = keyof typeof operatorAnswers
/** The answer to a command. */
export type OperatorAnswer<Name extends OperatorCommandName> = v.InferOutput<(typeof operatorAnswers)[Name]>

/** The commands, by name. */
export function createOperatorCommands(parts: {
  storage: Storage
  bus: Bus
  clock: Clock
  ledger: PaymentLedger
  keyRings: RelayKeyRings
  log: Log
  /** Undefined if no relay runs. */
  methods: PaymentMethods | undefined
}): Readonly<Record<OperatorCommandName, OperatorCommand>> {
  return {
    ...orderCommands(parts),
    ...accountingCommands(parts),
    ...chainCommands(parts),
    ...holdingCommands(parts),
    ...accountCommands(parts),
    ...keyCommands(parts),
  }
}

/** The keys of the relay, with what push knows about them. */
export function openKeyRings(
  parts: Omit<RelayKeyRingsParts, 'makeVapidSecret' | 'countSubscriptions'>,
): Promise<RelayKeyRings> {
  return RelayKeyRings.open({ ...parts, makeVapidSecret, countSubscriptions })
}
