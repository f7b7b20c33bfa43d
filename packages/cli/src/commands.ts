// Every command of the command line.
import { accountsCommand } from './accounts-command.ts'
import { chatCommand } from './chat-command.ts'
import type { Command, CommandGroup } from './command.ts'
import { keysCommand } from './keys-command.ts'
import {
  afterRestoreCommand,
  backupCommand,
  compactCommand,
  resumeExpiryCommand,
} from './operator-commands.ts'
import { ordersCommand } from './orders-command.ts'
import { serveCommand } from './serve-command.ts'

export const commands: readonly (Command | CommandGroup)[] = [
  serveCommand,
  chatCommand,
  ordersCommand,
  accountsCommand,
  keysCommand,
  backupCommand,
  afterRestoreCommand,
  resumeExpiryCommand,
  compactCommand,
]
