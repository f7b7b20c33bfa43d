// How the operator's commands reach the relay's code: loaded late, with the settings that flags stand for.
import { CommandError, type Flags, textFlag } from './command.ts'

/** The relay's package. */
export type Relay = typeof import('@sotto/relay')

/** Does something with the relay's code. @throws CommandError where it says that it cannot be done */
export async function atRelay<T>(act: (relay: Relay) => Promise<T>): Promise<T> {
  const relay = await import('@sotto/relay') // Only here: nobody who chats loads the relay.
  try {
    return await act(relay)
  } catch (error) {
    throw error instanceof relay.OperatorError ? new CommandError(error.message) : error
  }
}

/** The settings of the relay that is meant: those around, with the folder of --data-dir. */
export function environmentOf(flags: Flags): Record<string, string | undefined> {
  const folder = textFlag(flags, 'data-dir')
  return folder === undefined ? { ...process.env } : { ...process.env, DATA_DIR: folder }
}
