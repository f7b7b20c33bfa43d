// The interface of a command. To add a command, add a file and a row in commands.ts.

/** A command, as `sotto help` lists it and `sotto <name>` runs it. */
export interface Command {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** The full text of `sotto <name> --help`. */
  readonly help: string
  /** Flags by name, in the form of node:util's `parseArgs`. `--help` is added to every command. */
  readonly options: Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>
  /** Required arguments besides flags, in order, named as in the help: `ORDER`. None by default. */
  readonly words?: readonly string[]
  /** Arguments that may follow them. None by default. */
  readonly optionalWords?: readonly string[]
  /** Runs the command. Resolves with the process's exit code. */
  run(flags: Flags, words: readonly string[]): Promise<number>
}

/** Commands that share a name and a help: `sotto orders list`, `sotto orders show ORDER`. */
export interface CommandGroup extends Pick<Command, 'name' | 'summary' | 'help'> {
  readonly actions: readonly Omit<Command, 'summary' | 'help'>[]
  /** What the name does with flags alone. Without this, an action must be named. */
  readonly alone?: Pick<Command, 'options' | 'run'>
}

/** The given flags by name. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>

/** The command was called wrongly. The message is one line; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A failure that the user can do something about. The message is one line; the exit code is 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** The value of a flag, if it was given. */
export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

/**
 * The value of a required flag.
 * @param meaning what the flag says: `where to put the copy`
 * @throws UsageError if it is missing
 */
export function neededFlag(flags: Flags, name: string, meaning: string): string {
  const value = textFlag(flags, name)?.trim()
  if (!value) throw new UsageError(`--${name} is missing; it says ${meaning}`)
  return value
}
