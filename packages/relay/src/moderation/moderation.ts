// The public file of moderation: what the operator does to accounts, and the record of it.
import { type AccountCommandParts, accountAnswers, accountCommands } from './account-commands.ts'
import { type ChannelCommandParts, channelAnswers, channelCommands } from './channel-commands.ts'
import { deedAnswers, deedCommands } from './deeds.ts'
import { reportAnswers, reportCommands } from './reports.ts'

export type { ChannelCommandParts } from './channel-commands.ts'
export { countOpenReports, eraseOldReports, eraseReportsOf, reportRoutes } from './reports.ts'
export { liftEnded, outliveMessages } from './suspending.ts'

/** The schema of each command's answer. */
export const moderationAnswers = {
  ...accountAnswers,
  ...channelAnswers,
  ...reportAnswers,
  ...deedAnswers,
} as const

/** The operator's commands of moderation, by name. */
export function moderationCommands(parts: AccountCommandParts & ChannelCommandParts) {
  return {
    ...accountCommands(parts),
    ...channelCommands(parts),
    ...reportCommands(parts),
    ...deedCommands(parts),
  }
}
