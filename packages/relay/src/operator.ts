// The operator's commands. They work on the store itself, or through the relay that runs on it.
import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { createInProcessBus } from './cluster/in-process-bus.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { createGoods } from './goods.ts'
import { OperatorRefusal } from './listener/operator-command.ts'
import { operatorSocketOf, sendOperatorCommand } from './listener/operator-socket.ts'
import { moveSequencesAhead } from './messages/messages.ts'
import { systemClock as clock } from './operations/clock.ts'
import { trustClockAgain } from './operations/clock-trust.ts'
import { createLog } from './operations/log.ts'
import { systemRandom } from './operations/random.ts'
import {
  createOperatorCommands,
  type OperatorAnswer,
  type OperatorCommandName,
  openKeyRings,
  operatorAnswers,
} from './operator-commands.ts'
import { PaymentLedger } from './payments/ledger.ts'
import { moveDepositIndexAhead } from './payments/payments.ts'
import { isUpToDate, StorageTooNew } from './storage/migrate.ts'
import { openStorage } from './storage/open-storage.ts'
import { StorageUnsafe } from './storage/postgres-settings.ts'
import { openSqliteBeside, StorageInUse, StorageMissing } from './storage/sqlite.ts'
import type { Storage } from './storage/storage.ts'
import { VanityRules, VanityRulesError } from './vanity/vanity.ts'

/** More orders than a relay gets between two backups. */
const DEPOSIT_DISTANCE = 1_000_000

/** The reasons why a store cannot be opened that tell the operator what to do. */
const EXPLAINED = [StorageMissing, StorageInUse, StorageTooNew, StorageUnsafe]

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
   * Moves the counters of all conversations and of deposit addresses ahead. To be run once after a backup was
   * restored.
   */
  'after-restore': (environment: Environment): Promise<string> =>
    withStore(openAlone, environment, async (storage) => {
      await moveSequencesAhead(storage)
      await storage.transaction((sql) => moveDepositIndexAhead(sql, DEPOSIT_DISTANCE))
      return `The numbers of every conversation go on a million further, so that no client mistakes a new message for an old one.
Deposit addresses go on a million further, so that no address is given to a second order.`
    }),
  /** Rewrites the embedded database, so that nothing is left in it of what was deleted. */
  compact: (environment: Environment): Promise<string> =>
    withStore(openAlone, environment, async ({ engine }) => {
      if (engine.dialect !== 'sqlite')
        throw new OperatorError('DATABASE_URL is set: compact PostgreSQL with its own VACUUM FULL')
      engine.database.run('VACUUM')
      return 'Rewrote the database. Its file contains nothing that was deleted.'
    }),
} as const

/**
 * Copies the embedded database into a file that must not exist yet. A relay may run at the same time.
 * @throws OperatorError if there is no embedded database, or the file exists
 */
export function backUp(environment: Environment, file: string): string {
  const config = configOf(environment)
  if (config.databaseUrl)
    throw new OperatorError('DATABASE_URL is set: back up PostgreSQL with its own pg_dump')
  if (existsSync(file)) throw new OperatorError(`${file} exists already; choose another file`)
  const source = join(config.dataDir, 'sotto.db')
  if (!existsSync(source)) throw new OperatorError(`${config.dataDir} holds no store of a relay`)
  const database = new Database(source, { readonly: true })
  const umask = process.umask(0o077) // The copy contains the keys that sign tokens.
  try {
    database.run('PRAGMA busy_timeout = 5000')
    using copy = database.prepare('VACUUM INTO ?')
    copy.run(file)
  } finally {
    process.umask(umask)
    database.close(true)
  }
  return `Backed up to ${file}. To restore it: stop the relay, copy it to sotto.db in an empty data folder, run sotto after-restore.`
}

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
  const { dataDir, limits, vanityRules } = configOf(environment)
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
      return answerOf(
        command,
        await createOperatorCommands({ storage, bus, ledger, clock, keyRings, log, methods: undefined })[
          command
        ](input),
      )
    })
  } catch (error) {
    const isExplained = error instanceof OperatorRefusal || error instanceof VanityRulesError
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
  const storage = await open(configOf(environment)).catch((error) => {
    const isExplained = EXPLAINED.some((known) => error instanceof known)
    throw isExplained ? new OperatorError(error.message) : error
  })
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

function configOf(environment: Environment): Config {
  try {
    return readConfig(environment)
  } catch (error) {
    throw error instanceof ConfigError ? new OperatorError(error.message) : error
  }
}

async function openBeside(config: Config): Promise<Storage> {
  if (config.databaseUrl) return await openStorage(config)
  const storage = await openSqliteBeside(config.dataDir)
  if (await isUpToDate(storage)) return storage
  await storage.close()
  throw new OperatorError(
    `${config.dataDir} holds a store of another version of the relay; if that is older, start this version once`,
  )
}

// No relay may run on the store, because it would continue with the old numbers. (On PostgreSQL this cannot
// be checked; docs/operations.md tells the operator.)
async function openAlone(config: Config): Promise<Storage> {
  // Fails if the folder contains no store. openStorage would create an empty one.
  if (!config.databaseUrl) await (await openSqliteBeside(config.dataDir)).close()
  return await openStorage(config)
}
