// The schema, as forward-only steps. A step that has been released is never edited; the next one is added.
import { channels } from './migrations/channels.ts'
import { foundation } from './migrations/foundation.ts'
import { media } from './migrations/media.ts'
import type { Migration } from './migrations/migration.ts'
import { payments } from './migrations/payments.ts'
import { push } from './migrations/push.ts'

/** Every step from an empty store to this relay's schema, oldest first. */
export const migrations: readonly Migration[] = [foundation, channels, payments, push, media]
