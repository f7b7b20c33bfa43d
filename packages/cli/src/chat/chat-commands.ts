// The commands after "/" in a chat. /help is generated from their rows.
import { accountCommands, trustCommands } from './account-commands.ts'
import { channelCommands } from './channel-commands.ts'
import type { Chat, ChatCommands } from './chat.ts'
import type { CommandGroup, CommandRow } from './command-row.ts'
import { fileCommands } from './file-commands.ts'
import { messageCommands } from './message-commands.ts'
import { peopleCommands } from './people-commands.ts'
import { reportCommands } from './report-commands.ts'
import { secrecyCommands } from './secrecy-commands.ts'
import { shopCommands } from './shop-commands.ts'

const chatItself: CommandGroup = {
  title: 'This chat (Tab completes commands, names and files)',
  rows: [
    { name: 'help', takes: '', summary: 'show this help', run: help },
    { name: 'quit', takes: '', summary: 'leave (also Ctrl-C, Ctrl-D)', run: quit },
  ],
}

const groups: readonly CommandGroup[] = [
  messageCommands,
  fileCommands,
  peopleCommands,
  trustCommands,
  secrecyCommands,
  channelCommands,
  shopCommands,
  reportCommands,
  accountCommands,
  chatItself,
]
const commands: readonly CommandRow[] = groups.flatMap((group) => group.rows)

/** The commands, for a chat. */
export const chatCommands: ChatCommands = { run, complete }

async function run(chat: Chat, line: string): Promise<boolean> {
  const [, name, argument = ''] = /^\/(\S+)\s*(.*)$/s.exec(line) ?? []
  const command = commands.find((each) => each.name === name?.toLowerCase())
  if (!command) return false
  if (command.takes.startsWith('<') && argument.trim() === '')
    chat.terminal.print(`Usage: /${command.name} ${command.takes}`)
  else await command.run(chat, argument.trim())
  return true
}

async function complete(chat: Chat, text: string): Promise<readonly string[]> {
  const [, name = '', argument] = /^\/(\S*)(?:\s+(.*))?$/s.exec(text) ?? []
  if (argument === undefined) {
    const found = commands.filter((each) => each.name.startsWith(name.toLowerCase()))
    return found.map((each) => `/${each.name}${each.takes === '' ? '' : ' '}`)
  }
  const command = commands.find((each) => each.name === name.toLowerCase())
  const choices = (await command?.complete?.(chat, argument)) ?? []
  return choices.map((choice) => `/${name} ${choice}`)
}

async function quit(chat: Chat): Promise<void> {
  chat.leave({ isHurried: chat.terminal.isInteractive })
}

async function help(chat: Chat): Promise<void> {
  const width = Math.max(...commands.map(({ name, takes }) => `/${name} ${takes}`.length))
  const sections = groups.map(({ title, rows }) => {
    const lines = rows.map(({ name, takes, summary }) => `  ${`/${name} ${takes}`.padEnd(width)}  ${summary}`)
    return `${title}\n${lines.join('\n')}`
  })
  const read = chat.hasColour ? '\u001b[94m✓✓\u001b[0m' : '"read"'
  chat.terminal.print(
    `${sections.join('\n')}\nMarks: … sending  ✓ sent  ✓✓ delivered  ${read} read  ✗ refused`,
  )
}
