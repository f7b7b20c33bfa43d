// The operator's commands that a running relay carries out, or the store itself if no relay runs, and their
// answers.
import type { RegistrationMode } from '@sotto/protocol'
import * as v from 'valibot'
import { exportAnswers, exportCommands } from './account-export.ts'
import type { AccountDeletion } from './accounts/deletion.ts'
import { keyAnswers, keyCommands } from './accounts/operator-keys.ts'
import { openRelayKeys, RelayKeyRings, type RelayKeyRingsParts } from './accounts/relay-keys.ts'
import { type AdminParts, adminAnswers, adminCommands } from './admin/admin-commands.ts'
import { inviteAnswers, inviteCommands } from './admission/admission.ts'
import type { Bus } from './cluster/bus.ts'
import type { Config } from './config.ts'
import { type OperatorCommand, OperatorRefusal } from './listener/operator-command.ts'
import { mediaFolderOf } from './media/media.ts'
import { type ChannelCommandParts, moderationAnswers, moderationCommands } from './moderation/moderation.ts'
import type { Clock } from './operations/clock.ts'
import type { Log } from './operations/log.ts'
import type { RandomBytes } from './operations/random.ts'
import { noSecurityLog, openSecurityLog, type SecurityLog } from './operations/security-log.ts'
import { accountingAnswers, accountingCommands } from './payments/accounting.ts'
import type { PaymentLedger } from './payments/ledger.ts'
import { orderAnswers } from './payments/operator-answers.ts'
import { chainAnswers, chainCommands } from './payments/operator-chains.ts'
import { holdingAnswers, holdingCommands } from './payments/operator-holdings.ts'
import { orderCommands } from './payments/operator-orders.ts'
import type { PaymentMethods } from './payments/payment-methods.ts'
import { countSubscriptions, makeVapidSecret } from './push/push.ts'
import { type Folders, type RunningRelay, statusAnswers, statusCommands } from './status.ts'
import type { Storage } from './storage/storage.ts'

/** The schema of each command's answer. */
export const operatorAnswers = {
  ...orderAnswers,
  ...accountingAnswers,
  ...chainAnswers,
  ...holdingAnswers,
  ...inviteAnswers,
  ...moderationAnswers,
  ...keyAnswers,
  ...statusAnswers,
  ...exportAnswers,
  ...adminAnswers,
} as const
/** The names of the commands. */
export type OperatorCommandName = keyof typeof operatorAnswers
/** The answer to a command. */
export type OperatorAnswer<Name extends OperatorCommandName> = v.InferOutput<(typeof operatorAnswers)[Name]>

/** The commands that the admin page may ask for. */
const pageCommands = [
  'status',
  'figures',
  'settings',
  'log',
  'orders.list',
  'orders.show',
  'orders.confirm',
  'orders.refund-recorded',
  'orders.settle-lost',
  'payouts.due',
  'payouts.paid',
  'invites.list',
  'invites.make',
  'invites.revoke',
  'accounts.find',
  'accounts.show',
  'accounts.suspend',
  'accounts.lift',
  'accounts.log-out',
  'accounts.delete',
  'channels.find',
  'channels.show',
  'channels.remove-post',
  'channels.close',
  'channels.open',
  'channels.delete',
  'reports.list',
  'reports.show',
  'reports.done',
  'deeds.list',
] as const satisfies readonly OperatorCommandName[]

/** The commands, by name. */
export function createOperatorCommands(parts: {
  storage: Storage
  bus: Bus
  clock: Clock
  ledger: PaymentLedger
  keyRings: RelayKeyRings
  log: Log
  deletion: AccountDeletion
  purgeChannel: ChannelCommandParts['purgeChannel']
  /** Undefined if no relay runs. */
  methods: PaymentMethods | undefined
  folders: Folders
  randomBytes: RandomBytes
  securityLog: SecurityLog
  publicUrl: URL | undefined
  registration: RegistrationMode
  /** Undefined if no relay runs. */
  running: (RunningRelay & { readonly admin: AdminParts }) | undefined
}): Readonly<Record<OperatorCommandName, OperatorCommand>> {
  const commands: Readonly<Record<OperatorCommandName, OperatorCommand>> = recorded(parts.securityLog, {
    ...orderCommands(parts),
    ...accountingCommands(parts),
    ...chainCommands(parts),
    ...holdingCommands(parts),
    ...inviteCommands(parts),
    ...moderationCommands(parts),
    ...keyCommands(parts),
    ...statusCommands(parts),
    ...exportCommands(parts),
    ...adminCommands(parts.running?.admin, () =>
      Object.fromEntries(pageCommands.map((name) => [name, commands[name]])),
    ),
  })
  return commands
}

// The same commands, each of which the security log has with its outcome.
function recorded<Name extends string>(
  securityLog: SecurityLog,
  commands: Readonly<Record<Name, OperatorCommand>>,
): Readonly<Record<Name, OperatorCommand>> {
  const all: Partial<Record<Name, OperatorCommand>> = {}
  for (const name in commands) all[name] = recordedCommand(name, commands[name], securityLog)
  return { ...commands, ...all }
}

/** Some commands ask the operator for a name. */
const Signed = v.object({ who: v.string() })
const MOST_NAME_CHARACTERS = 100

function recordedCommand(command: string, run: OperatorCommand, securityLog: SecurityLog): OperatorCommand {
  return async (input) => {
    const { who } = v.is(Signed, input) ? input : {}
    const by = who === undefined ? {} : { by: who.slice(0, MOST_NAME_CHARACTERS) }
    const record = (outcome: 'done' | 'refused' | 'failed'): void =>
      securityLog.record('operator_command', { command, outcome, ...by }, JSON.stringify(input))
    try {
      const answer = await run(input)
      record('done')
      return answer
    } catch (error) {
      record(error instanceof OperatorRefusal ? 'refused' : 'failed')
      throw error
    }
  }
}

/** The security log of a relay with these settings. @throws SettingError if its file cannot be written */
export async function openSecurityLogOf(
  { securityLog }: Pick<Config, 'securityLog'>,
  parts: { storage: Storage; clock: Clock; randomBytes: RandomBytes; log: Log },
): Promise<SecurityLog> {
  if (securityLog === undefined) return noSecurityLog
  const [{ secret }] = await openRelayKeys(parts.storage, 'security', parts)
  return openSecurityLog(securityLog, { ...parts, secret })
}

/** Where a relay with these settings keeps its data. */
export function foldersOf(config: Pick<Config, 'dataDir' | 'databaseUrl' | 'media'>): Folders {
  const { dataDir, databaseUrl, media } = config
  return { database: databaseUrl === undefined ? dataDir : undefined, media: mediaFolderOf(media, dataDir) }
}

/** The keys of the relay, with what push knows about them. */
export function openKeyRings(
  parts: Omit<RelayKeyRingsParts, 'makeVapidSecret' | 'countSubscriptions'>,
): Promise<RelayKeyRings> {
  return RelayKeyRings.open({ ...parts, makeVapidSecret, countSubscriptions })
}
