// A disk and a budget of media that always have space, for tests of parts that ask for it.
import type { MediaBudget } from '../src/media/budget.ts'
import type { DiskSpace } from '../src/operations/disk-space.ts'

export const ampleSpace: Pick<DiskSpace, 'takesNew' | 'reportFull' | 'check' | 'holdMedia'> = {
  takesNew: true,
  reportFull: () => undefined,
  check: () => undefined,
  holdMedia: (_most, work) => work(),
}

export const ampleBudget: Pick<MediaBudget, 'check'> = { check: async () => undefined }
