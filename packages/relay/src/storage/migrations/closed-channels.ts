// Channels that the operator has closed.
import type { Migration } from './migration.ts'

export const closedChannels: Migration = () => [
  // closed_for: why the operator closed the channel, NULL while it is open.
  `ALTER TABLE channels ADD COLUMN closed_for TEXT`,
]
