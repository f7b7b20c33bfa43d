// Loads the relay's code for the operator's commands, with settings from flags.
import { CommandError, type Flags, textFlag } from './command.ts'

/** The relay's package. */
export type Relay = typeof import('@sotto/relay')

/** Runs `act` with the relay's code. @throws CommandError for an OperatorError of the relay */
export async function atRelay<T>(act: (relay: Relay) => Promise<T>): Promise<T> {
  const relay = await import('@sotto/relay') // Imported late, so that chats do not load the relay.
  try {
    return await act(relay)
  } catch (error) {
    throw error instanceof relay.OperatorError ? new CommandError(error.message) : error
  }
}

/** The environment variables, with the folder of --data-dir as DATA_DIR. */
export function environmentOf(flags: Flags): Record<string, string | undefined> {
  const folder = textFlag(flags, 'data-dir')
  return folder === undefined ? { ...process.env } : { ...process.env, DATA_DIR: folder }
}
