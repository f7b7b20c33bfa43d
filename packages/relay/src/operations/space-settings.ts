// The settings of the free space that the relay keeps back on its disks. Only config.ts reads the environment
// and calls this.
import { SettingError } from './setting-error.ts'

/** Settings of the reserves. */
export const spaceSettings = {
  DISK_RESERVE_BYTES: {
    default: '',
    means:
      'free space of a disk below which the relay refuses media, registrations, channels, posts and push subscriptions; 0 for none. If empty, a tenth of the disk, at most 1 GiB',
  },
  DISK_LAST_RESERVE_BYTES: {
    default: '',
    means:
      'free space of the database’s disk below which it takes nothing new, not even messages; at most DISK_RESERVE_BYTES, which must be set too. If empty, half of that reserve, at most 256 MiB',
  },
} as const

/** Returns a setting's text, or its default if the operator did not set it. */
export type SpaceSettingText = (name: keyof typeof spaceSettings) => string

/** The reserves that the operator set; undefined if they are to be worked out from the disk. */
export interface SpaceConfig {
  readonly reserveBytes: number | undefined
  readonly lastReserveBytes: number | undefined
}

/** The reserves of a disk. */
export interface Reserves {
  readonly reserveBytes: number
  readonly lastReserveBytes: number
}

const MIB = 1024 * 1024

/** @throws SettingError at the first setting that cannot be used */
export function spaceConfigOf(text: SpaceSettingText): SpaceConfig {
  const reserveBytes = bytesOf('DISK_RESERVE_BYTES', text)
  const lastReserveBytes = bytesOf('DISK_LAST_RESERVE_BYTES', text)
  if (lastReserveBytes !== undefined && lastReserveBytes > (reserveBytes ?? 0)) {
    throw new SettingError('DISK_LAST_RESERVE_BYTES', 'at most DISK_RESERVE_BYTES, which must be set too')
  }
  return { reserveBytes, lastReserveBytes }
}

/** The reserves in force on a disk of this size. */
export function reservesOf(config: SpaceConfig, diskBytes: number): Reserves {
  const reserveBytes = config.reserveBytes ?? Math.min(Math.floor(diskBytes / 10), 1024 * MIB)
  const lastReserveBytes = config.lastReserveBytes ?? Math.min(Math.floor(reserveBytes / 2), 256 * MIB)
  return { reserveBytes, lastReserveBytes }
}

function bytesOf(name: keyof typeof spaceSettings, text: SpaceSettingText): number | undefined {
  const given = text(name)
  if (given === '') return undefined
  if (!/^[0-9]{1,15}$/.test(given)) throw new SettingError(name, 'a whole number of bytes')
  return Number(given)
}
