// What `sotto upgrade` does to a store and to the relay that runs on it.
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorRefusal } from './listener/operator-command.ts'
import { operatorSocketOf } from './listener/operator-socket.ts'
import { systemClock as clock } from './operations/clock.ts'
import { configOf, OperatorError } from './operator.ts'
import { backUp } from './operator-backups.ts'
import { handOverBy, type Running, runningBy } from './succession/succession.ts'

/** The names of such copies, finished or not. */
const COPY = /^before-.+\.db(\.\d+\.unfinished)?$/

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Copies the embedded database into its folder before this version changes it. Copies of earlier upgrades,
 * and what was left of one that was cut off, are removed then, because they have what was deleted since.
 * @returns the file
 * @throws OperatorError as `backUp`
 */
export async function backUpBefore(environment: Environment, version: string): Promise<string> {
  const time = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(':', '-')
  const { dataDir } = configOf(environment)
  const name = `before-${version}-${time}.db`
  await backUp(environment, join(dataDir, name))
  for (const other of await readdir(dataDir))
    if (COPY.test(other) && other !== name) await rm(join(dataDir, other))
  return join(dataDir, name)
}

/**
 * Asks the relay that runs on this data folder about itself.
 * @returns undefined if none runs
 * @throws OperatorError if it does not answer
 */
export function askRunning(environment: Environment): Promise<Running | undefined> {
  return asOperator(runningBy(operatorSocketOf(configOf(environment).dataDir)))
}

/**
 * Has the running relay stop, so that the program that lies where its own was started takes its place.
 * @throws OperatorError if it refuses or does not answer
 */
export function handOver(environment: Environment): Promise<void> {
  return asOperator(handOverBy(operatorSocketOf(configOf(environment).dataDir)))
}

async function asOperator<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    throw error instanceof OperatorRefusal ? new OperatorError(error.message) : error
  }
}
