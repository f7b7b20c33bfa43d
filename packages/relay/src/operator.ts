// What an operator can tell the store, beside the relay that may be running on it.
import { Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { createInProcessBus } from './cluster/in-process-bus.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { goods } from './goods.ts'
import { moveSequencesAhead, resumeExpiry } from './messages/messages.ts'
import { systemClock as clock } from './operations/clock.ts'
import { OperatorRefusal } from './operations/operator-command.ts'
import { knock, operatorDoorOf } from './operations/operator-door.ts'
import { PaymentLedger } from './payments/ledger.ts'
import { type OrderAnswer, type OrderCommandName, orderAnswers } from './payments/operator-answers.ts'
import { orderCommands } from './payments/operator-orders.ts'
import { moveDepositIndexAhead } from './payments/payments.ts'
import { isUpToDate, StorageTooNew } from './storage/migrate.ts'
import { openStorage } from './storage/open-storage.ts'
import { openSqliteBeside, StorageInUse, StorageMissing } from './storage/sqlite.ts'
import type { Storage } from './storage/storage.ts'

/** More orders than a relay takes between two backups. */
const DEPOSIT_DISTANCE = 1_000_000

type Environment = Readonly<Record<string, string | undefined>>

/** Something an operator asked for that cannot be done; the message says why. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
}

/** What can be told to a store, by the command's name. Each returns a line for the terminal. */
export const operatorCommands = {
  /** Lets messages expire again after the clock had jumped. */
  'resume-expiry': (environment: Environment): Promise<string> =>
    withStore(openBeside, environment, async (storage) => {
      await resumeExpiry(storage)
      return 'Expiry goes on with the relay’s next round, within a minute.'
    }),
  /** Moves every conversation ahead, and the number deposit addresses are made from: once, after a backup was put back. */
  'after-restore': (environment: Environment): Promise<string> =>
    withStore(openAlone, environment, async (storage) => {
      await moveSequencesAhead(storage)
      await storage.transaction((sql) => moveDepositIndexAhead(sql, DEPOSIT_DISTANCE))
      return `Every conversation goes on a million further: no client mistakes a new message for one it has seen.
Deposit addresses go on a million further: none is given to a second order.`
    }),
} as const

/**
 * Copies the embedded database into a file that must not exist yet, while the relay may go on working.
 * @throws OperatorError where there is none, or the file exists
 */
export function backUp(environment: Environment, file: string): string {
  const config = readConfig(environment)
  if (config.databaseUrl)
    throw new OperatorError('DATABASE_URL is set: back PostgreSQL up with its own pg_dump')
  if (existsSync(file)) throw new OperatorError(`${file} exists already; name another file`)
  const source = join(config.dataDir, 'sotto.db')
  if (!existsSync(source)) throw new OperatorError(`${config.dataDir} holds no store of a relay`)
  const database = new Database(source, { readonly: true })
  const umask = process.umask(0o077) // The copy holds the keys that sign tokens.
  try {
    database.run('PRAGMA busy_timeout = 5000')
    using copy = database.prepare('VACUUM INTO ?')
    copy.run(file)
  } finally {
    process.umask(umask)
    database.close(true)
  }
  return `Backed up to ${file}. To put it back: stop the relay, make it sotto.db in an empty data folder, run sotto after-restore.`
}

/**
 * Has a command about orders done: by the relay that runs on this data folder, or on the store itself where none does.
 * @throws OperatorError where it is refused, or neither can be reached
 */
export async function tellRelay<Name extends OrderCommandName>(
  environment: Environment,
  command: Name,
  input: object,
): Promise<OrderAnswer<Name>> {
  const { dataDir, limits } = configOf(environment)
  try {
    const told = await knock(operatorDoorOf(dataDir), command, input)
    if (told) return answerOf(command, told.answer)
    return await withStore(openBeside, environment, async (storage) => {
      // Nobody hears its bell here: a payer who is connected elsewhere finds the notice with the next connection.
      const ledger = new PaymentLedger({ storage, bus: createInProcessBus(), clock, limits, goods })
      return answerOf(command, await orderCommands({ storage, ledger, clock })[command](input))
    })
  } catch (error) {
    throw error instanceof OperatorRefusal ? new OperatorError(error.message) : error
  }
}

// The relay that runs may be of another version.
function answerOf<Name extends OrderCommandName>(command: Name, answer: unknown): OrderAnswer<Name> {
  const { success, output } = v.safeParse(orderAnswers[command], answer)
  if (success) return output
  throw new OperatorRefusal('the relay that runs answers in a form this version does not know')
}

async function withStore<T>(
  open: (config: Config) => Promise<Storage>,
  environment: Environment,
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  const storage = await open(configOf(environment)).catch((error) => {
    const isTold = [StorageMissing, StorageInUse, StorageTooNew].some((known) => error instanceof known)
    throw isTold ? new OperatorError(error.message) : error
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
    `${config.dataDir} holds a store of another version of the relay; if it is older, start this one on it once`,
  )
}

// A relay that is running would go on with the numbers it knows. (With PostgreSQL nobody can tell: the document says so.)
async function openAlone(config: Config): Promise<Storage> {
  if (!config.databaseUrl) await (await openSqliteBeside(config.dataDir)).close() // Makes no empty store by mistake.
  return await openStorage(config)
}
