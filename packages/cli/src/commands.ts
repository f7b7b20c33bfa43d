// Every command of the command line.
import { accountsCommand } from './accounts-command.ts'
import { adminCommand } from './admin-command.ts'
import { backupCommand, restoreCommand } from './backup-commands.ts'
import { channelsCommand, idsCommand } from './channels-command.ts'
import { chatCommand } from './chat-command.ts'
import type { Command, CommandGroup } from './command.ts'
import { copyCommand } from './copy-command.ts'
import { deedsCommand } from './deeds-command.ts'
import { doctorCommand } from './doctor-command.ts'
import { exportCommand } from './export-command.ts'
import { invitesCommand } from './invites-command.ts'
import { keysCommand } from './keys-command.ts'
import { licencesCommand } from './licences-command.ts'
import { afterRestoreCommand, compactCommand, resumeExpiryCommand } from './operator-commands.ts'
import { ordersCommand } from './orders-command.ts'
import { reportsCommand } from './reports-command.ts'
import { serveCommand } from './serve-command.ts'
import { statusCommand } from './status-command.ts'
import { upgradeCommand } from './upgrade/upgrade-command.ts'
import { verifyCommand } from './upgrade/verify-command.ts'
import { versionCommand } from './upgrade/version-command.ts'

export const commands: readonly (Command | CommandGroup)[] = [
  serveCommand,
  chatCommand,
  statusCommand,
  adminCommand,
  doctorCommand,
  ordersCommand,
  accountsCommand,
  invitesCommand,
  channelsCommand,
  idsCommand,
  reportsCommand,
  deedsCommand,
  keysCommand,
  exportCommand,
  backupCommand,
  restoreCommand,
  copyCommand,
  afterRestoreCommand,
  resumeExpiryCommand,
  compactCommand,
  upgradeCommand,
  verifyCommand,
  versionCommand,
  licencesCommand,
]
