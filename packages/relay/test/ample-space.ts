// A disk that always has space, for tests of parts that ask for it.
import type { DiskSpace } from '../src/operations/disk-space.ts'

export const ampleSpace: Pick<DiskSpace, 'takesNew' | 'reportFull' | 'check'> = {
  takesNew: true,
  reportFull: () => undefined,
  check: () => undefined,
}
