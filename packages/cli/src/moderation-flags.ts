// What the commands of moderation share: their flags, and how they ask the relay.
import { type Flags, neededFlag, textFlag } from './command.ts'
import { currentUser } from './operator-name.ts'

export { atRelay as tell, environmentOf as at } from './relay-environment.ts'

/** The flags of every command. */
export const commonFlags = { json: { type: 'boolean' }, 'data-dir': { type: 'string' } } as const
/** The flags of a command that changes something. */
export const changeFlags = { ...commonFlags, reason: { type: 'string' }, by: { type: 'string' } } as const

/** Who changes something. */
export function whoOf(flags: Flags): { who: string } {
  return { who: textFlag(flags, 'by')?.trim() || currentUser() }
}

/** Why something is changed. @throws UsageError if the flag is missing */
export function reasonOf(flags: Flags): { why: string } {
  return { why: neededFlag(flags, 'reason', 'why this is done') }
}

/** The same where no reason is needed. */
export function reasonIfGiven(flags: Flags): { why?: string } {
  const why = textFlag(flags, 'reason')?.trim()
  return why ? { why } : {}
}

/** Prints an answer as JSON or text. @returns the exit code */
export function print(flags: Flags, answer: unknown, text: string): number {
  process.stdout.write(`${flags.json ? JSON.stringify(answer, null, 2) : text}\n`)
  return 0
}
