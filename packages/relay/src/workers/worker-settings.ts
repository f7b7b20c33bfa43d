// How many processes serve the port. Only config.ts reads the environment and calls this.
import { availableParallelism } from 'node:os'
import { SettingError } from '../operations/setting-error.ts'

export const workerSettings = {
  WORKERS: {
    default: '1',
    means:
      'processes that serve the port together, 1 to 64; auto starts one for each core. More than one need DATABASE_URL',
  },
} as const

const MOST = 64

/** @throws SettingError if the setting is wrong, or what it needs is not there */
export function workersOf(text: string, given: { hasDatabase: boolean }): number {
  const count = text === 'auto' ? Math.min(availableParallelism(), MOST) : Number(text)
  const isWhole = text === 'auto' || /^[0-9]{1,2}$/.test(text)
  if (!isWhole || count < 1 || count > MOST)
    throw new SettingError('WORKERS', `auto or a whole number from 1 to ${MOST}`)
  if (text === '1') return count
  // Also with auto on a machine of one core, so that the same settings do not fail on the next machine.
  if (!given.hasDatabase)
    throw new SettingError(
      'WORKERS',
      '1, because only PostgreSQL (DATABASE_URL) is shared by several processes',
    )
  return count
}
