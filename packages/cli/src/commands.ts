// Every command of the command line.
import { chatCommand } from './chat-command.ts'
import type { Command } from './command.ts'
import { afterRestoreCommand, backupCommand, resumeExpiryCommand } from './operator-commands.ts'
import { serveCommand } from './serve-command.ts'

export const commands: readonly Command[] = [
  serveCommand,
  chatCommand,
  backupCommand,
  afterRestoreCommand,
  resumeExpiryCommand,
]
