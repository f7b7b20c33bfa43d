// The command line: finds the command, reads its flags, and reports errors in one line.
import { parseArgs } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { type Command, CommandError, type CommandGroup, type Flags, UsageError } from './command.ts'
import { commands } from './commands.ts'

/**
 * Runs `sotto` with these arguments.
 * @returns the exit code: 0, 1 if something failed, or 2 if it was called wrongly
 */
export async function main(args: readonly string[]): Promise<number> {
  try {
    return await runCommand(args)
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`sotto: ${error.message}\n`)
      return 2
    }
    // Who read the output needs no more of it.
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return 0
    if (!(error instanceof CommandError)) throw error
    process.stderr.write(`sotto: ${error.message}\n`)
    return 1
  }
}

async function runCommand(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h') return print(overview())
  if (name === '--version' || name === '-v') return print(manifest.version)
  if (name === 'help') return print(rest[0] === undefined ? overview() : find(rest[0]).help)
  if (name.startsWith('-')) throw new UsageError(`there is no flag ${name}; "sotto help" lists all commands`)
  const command = find(name)
  if (!('actions' in command)) return await runOne(command, rest, command)
  const [first, ...others] = rest
  if (first === '--help' || first === '-h') return print(command.help)
  const action = command.actions.find((each) => each.name === first)
  if (action) return await runOne(action, others, command)
  if (command.alone && (first === undefined || first.startsWith('-')))
    return await runOne({ ...command.alone, name }, rest, command)
  const names = command.actions.map((each) => each.name).join(', ')
  throw new UsageError(`"sotto ${name}" needs one of ${names}; see "sotto ${name} --help"`)
}

async function runOne(
  command: Action,
  args: readonly string[],
  { name, help }: { name: string; help: string },
): Promise<number> {
  const { flags, words } = readArguments(command, args, name)
  if (flags.help) return print(help)
  const missing = command.words?.[words.length]
  if (missing !== undefined) throw new UsageError(`${missing} is missing; see "sotto ${name} --help"`)
  return await command.run(flags, words)
}

type Action = CommandGroup['actions'][number]

function find(name: string): Command | CommandGroup {
  const command = commands.find((each) => each.name === name)
  if (!command) throw new UsageError(`there is no command "${name}"; "sotto help" lists them`)
  return command
}

function readArguments(
  { words = [], optionalWords = [], ...command }: Action,
  args: readonly string[],
  name: string,
): { flags: Flags; words: readonly string[] } {
  try {
    const options = { ...command.options, help: { type: 'boolean', short: 'h' } } as const
    const most = words.length + optionalWords.length
    const allowPositionals = most > 0
    const { values, positionals } = parseArgs({ args: [...args], options, strict: true, allowPositionals })
    const surplus = positionals[most]
    if (surplus !== undefined) throw new Error(`Unexpected argument '${surplus}'`)
    return { flags: values, words: positionals }
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split(/[.\n]/)
    throw new UsageError(`${reason}; "sotto ${name} --help" lists its flags`)
  }
}

function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const lines = commands.map(({ name, summary }) => `  sotto ${name.padEnd(width)}  ${summary}`)
  return `Sotto, end-to-end encrypted messaging.

${lines.join('\n')}
  sotto ${'help'.padEnd(width)}  show this help; "sotto help <command>" shows more

"sotto --version" prints the version.`
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

if (import.meta.main) {
  const code = await main(process.argv.slice(2))
  // An explicit exit: anything that a failed command left open would keep the process alive.
  await Promise.all([process.stdout, process.stderr].map(flushed))
  process.exit(code)
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve())
  })
}
