// The operator's commands. They work on the store itself, or through the relay that runs on it.
import * as v from 'valibot'
import { createAccountDeletion } from './account-deletion.ts'
import { BackupError } from './backup/backup-error.ts'
import { moveNumbersAhead } from './backup/restore.ts'
import { channelPurges } from './channels/channels.ts'
import { createInProcessBus } from './cluster/in-process-bus.ts'
import { readNodes } from './cluster/node-list.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { createGoods } from './goods.ts'
import { OperatorRefusal } from './listener/operator-command.ts'
import { operatorSocketOf, sendOperatorCommand } from './listener/operator-socket.ts'
import { systemClock as clock } from './operations/clock.ts'
import { trustClockAgain } from './operations/clock-trust.ts'
import { createLog } from './operations/log.ts'
import { systemRandom } from './operations/random.ts'
import { SettingError } from './operations/setting-error.ts'
import {
  createOperatorCommands,
  foldersOf,
  type OperatorAnswer,
  type OperatorCommandName,
  openKeyRings,
  openSecurityLogOf,
  operatorAnswers,
} from './operator-commands.ts'
import { PaymentLedger } from './payments/ledger.ts'
import { explain, StartError } from './start-error.ts'
import { checkNotCopied } from './storage/copy-mark.ts'
import { isUpToDate } from './storage/migrate.ts'
import { openStorage } from './storage/open-storage.ts'
import { openSqliteBeside, StorageMissing } from './storage/sqlite.ts'
import type { Storage } from './storage/storage.ts'
import { VanityRules, VanityRulesError } from './vanity/vanity.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The command cannot be carried out. The message tells the operator why. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}

/** The commands that work on the store, by name. Each returns the text for the terminal. */
export const operatorCommands = {
  /** Lets messages expire again after the clock had jumped. */
  'resume-expiry': (environment: Environment): Promise<string> =>
    withStore(openBeside, environment, async (storage) => {
      await trustClockAgain(storage)
      return 'Expiry goes on within a minute, with the relay’s next periodic check.'
    }),
  /**
   * Moves the counters of all conversations and of deposit addresses ahead, deletes all key packages, and
   * lets clients know that the relay was restored. To be run once after a backup was restored.
   */
  'after-restore': (environment: Environment): Promise<string> =>
    withStore(openAlone, environment, async (storage) => {
      await moveNumbersAhead(storage)
      return `The numbers of every conversation go on a million further, so that no client mistakes a new message for an old one.
Deposit addresses go on a million further, so that no address is given to a second order.
All key packages are deleted, so that none is given out a second time; clients upload new ones.
Clients learn that the relay was restored, so that they can join their conversations again.`
    }),
  /** Rewrites the embedded database, so that nothing is left in it of what was deleted. */
  compact: (environment: Environment): Promise<string> =>
    withStore(openAlone, environment, async ({ engine }) => {
      if (engine.dialect !== 'sqlite')
        throw new OperatorError('DATABASE_URL is set: compact PostgreSQL with its own VACUUM FULL')
      try {
        engine.database.run('VACUUM')
      } catch (error) {
        throw explained(error, configOf(environment))
      }
      return 'Rewrote the database. Its file contains nothing that was deleted.'
    }),
} as const

/**
 * Carries out a command: through the relay that runs on this data folder, or on the store itself
 * if none runs.
 * @throws OperatorError if the command is refused, or neither the relay nor the store can be opened
 */
export async function tellRelay<Name extends OperatorCommandName>(
  environment: Environment,
  command: Name,
  input: object,
): Promise<OperatorAnswer<Name>> {
  const config = configOf(environment)
  const { dataDir, limits, vanityRules } = config
  try {
    const reply = await sendOperatorCommand(operatorSocketOf(dataDir), command, input)
    if (reply) return answerOf(command, reply.answer)
    return await withStore(openBeside, environment, async (storage) => {
      // Nothing listens to this bus. A notice is stored, so a buyer gets it with the next connection. Relays
      // on other machines look for logouts in the store.
      const bus = createInProcessBus()
      const log = createLog('silent')
      const keyRings = await openKeyRings({ storage, bus, clock, randomBytes: systemRandom })
      // The price list is read only if it is needed, so that a mistake in it does not stop other commands.
      const goods = createGoods({ valuate: (id) => new VanityRules(vanityRules, { clock, log }).valuate(id) })
      const ledger = new PaymentLedger({ storage, bus, clock, limits, goods, log })
      const { publicUrl } = config
      const deletion = createAccountDeletion({ storage, bus, clock, log, limits })
      const purges = channelPurges({ storage, log })
      const purgeChannel: typeof purges.purge = (channel) => purges.purge(channel)
      const own = {
        log,
        deletion,
        purgeChannel,
        folders: foldersOf(config),
        randomBytes: systemRandom,
        publicUrl,
        registration: config.admission.registration,
      }
      const securityLog = await openSecurityLogOf(config, { ...own, storage, clock })
      const parts = { ...own, storage, bus, ledger, clock, keyRings, securityLog }
      const commands = createOperatorCommands({ ...parts, methods: undefined, running: undefined })
      return answerOf(command, await commands[command](input))
    })
  } catch (error) {
    const isExplained =
      error instanceof OperatorRefusal || error instanceof VanityRulesError || error instanceof SettingError
    throw isExplained ? new OperatorError(error.message) : error
  }
}

// Checks the answer, because the running relay may have another version.
function answerOf<Name extends OperatorCommandName>(command: Name, answer: unknown): OperatorAnswer<Name> {
  const { success, output } = v.safeParse(operatorAnswers[command], answer)
  if (success) return output
  throw new OperatorRefusal('the running relay answered in a form that this version does not know')
}

async function withStore<T>(
  open: (config: Config) => Promise<Storage>,
  environment: Environment,
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  const config = configOf(environment)
  const storage = await open(config).catch((error) => {
    throw error instanceof StorageMissing ? new OperatorError(error.message) : explained(error, config)
  })
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

/** An OperatorError if a setting, the disk, the store or a backup is the cause; else the error itself. */
export function explained(error: unknown, config: Config): unknown {
  if (error instanceof BackupError) return new OperatorError(error.message)
  const reason = explain(error, config)
  return reason instanceof StartError ? new OperatorError(reason.message) : reason
}

/** @throws OperatorError if a setting is invalid */
export function configOf(environment: Environment): Config {
  try {
    return readConfig(environment)
  } catch (error) {
    throw error instanceof ConfigError ? new OperatorError(error.message) : error
  }
}

async function openBeside(config: Config): Promise<Storage> {
  if (config.databaseUrl) return await openStorage(config)
  const storage = await openSqliteBeside(config.dataDir)
  try {
    await checkNotCopied(storage)
    if (await isUpToDate(storage)) return storage
  } catch (error) {
    await storage.close()
    throw error
  }
  await storage.close()
  throw new OperatorError(
    `${config.dataDir} holds a store of another version of the relay; if that is older, start this version once`,
  )
}

// No relay may run on the store, because it would continue with the old numbers. On PostgreSQL, those that
// run are in the list of nodes.
async function openAlone(config: Config): Promise<Storage> {
  // Fails if the folder contains no store. openStorage would create an empty one.
  if (!config.databaseUrl) await (await openSqliteBeside(config.dataDir)).close()
  const storage = await openStorage(config)
  const running = (await readNodes(storage)).filter(({ state }) => state !== 'silent')
  if (running.length === 0) return storage
  await storage.close()
  throw new OperatorError(
    `relays run on this store: ${running.map(({ place }) => place).join(', ')}; stop them. One that was killed is silent 15 seconds later`,
  )
}
