// What a command of the command line is. Adding one means adding a file and a row in commands.ts.

/** A command, as `sotto help` lists it and `sotto <name>` runs it. */
export interface Command {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** All of `sotto <name> --help`. */
  readonly help: string
  /** Flags by name, as `parseArgs` of node:util takes them. `--help` is added to every command. */
  readonly options: Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>
  /** What it must be given besides flags, in this order, as its help calls it: `ORDER`. Nothing unless said. */
  readonly words?: readonly string[]
  /** Runs it; resolves with the process's exit code. */
  run(flags: Flags, words: readonly string[]): Promise<number>
}

/** Commands that share a name and a help: `sotto orders list`, `sotto orders show ORDER`. */
export interface CommandGroup extends Pick<Command, 'name' | 'summary' | 'help'> {
  readonly actions: readonly Omit<Command, 'summary' | 'help'>[]
}

/** The flags given, by name. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>

/** A mistake in how the command was called: told in one line, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A failure the user can do something about: told in one line, exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** A flag that takes a value, if it was given. */
export function textFlag(flags: Flags, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

/** A flag that must be given. @throws UsageError where it is missing: `--to says where to put the copy, and is missing` */
export function neededFlag(flags: Flags, name: string, says: string): string {
  const value = textFlag(flags, name)?.trim()
  if (!value) throw new UsageError(`--${name} says ${says}, and is missing`)
  return value
}
