// How a chat shows that a message was taken back or edited, or that somebody reacted to it.
import type { SottoClient, StoredMessage } from '@sotto/client'
import { sanitizeLine } from '../sanitize.ts'
import type { MarkedLine, Terminal } from './terminal.ts'

/** What the changes need of a chat. */
export interface ChangedScreen {
  readonly client: SottoClient
  readonly terminal: Pick<Terminal, 'isInteractive' | 'print' | 'replaceMarked'>
  name(contact: string): string
  /** The number of a message that was shown. */
  numberOf(message: StoredMessage): number | undefined
  lineOf(message: StoredMessage, number: number): Promise<MarkedLine>
  /** Runs work after all that is under way. */
  enqueue(work: () => Promise<void>): void
}

/** Shows changes of messages from now on. Returns what ends that. */
export function showChanges(screen: ChangedScreen): () => void {
  const { client, enqueue } = screen
  const undo = [
    client.on('retracted', (message) => enqueue(() => showRetracted(screen, message))),
    client.on('edited', (message) => enqueue(() => showEdited(screen, message))),
    client.on('reacted', (message) => enqueue(() => showReacted(screen, message))),
  ]
  return () => {
    for (const each of undo) each()
  }
}

async function showRetracted(screen: ChangedScreen, message: StoredMessage): Promise<void> {
  const number = screen.numberOf(message)
  if (number === undefined) return
  const isErased = await redraw(screen, message, number)
  const isLeft = screen.terminal.isInteractive && !isErased
  screen.terminal.print(
    `• ${authorOf(screen, message)} took back #${number}.${isLeft ? ' Its text may still be above, where it cannot be erased alone: /clear erases everything.' : ''}`,
  )
}

async function showEdited(screen: ChangedScreen, message: StoredMessage): Promise<void> {
  const number = screen.numberOf(message)
  if (number === undefined) return
  const isDrawn = await redraw(screen, message, number)
  screen.terminal.print(`• ${authorOf(screen, message)} edited #${number}.`)
  await printAgain(screen, message, number, isDrawn)
}

async function showReacted(screen: ChangedScreen, message: StoredMessage): Promise<void> {
  const number = screen.numberOf(message)
  const latest = message.reactions?.toSorted((a, b) => a.at - b.at).at(-1)
  if (number === undefined || !latest) return
  const isDrawn = await redraw(screen, message, number)
  const who = latest.isMe ? 'You' : screen.name(message.conversationId)
  const what =
    latest.text === undefined
      ? `took back the reaction to #${number}`
      : `reacted to #${number} with ${sanitizeLine(latest.text)}`
  screen.terminal.print(`• ${who} ${what}.`)
  await printAgain(screen, message, number, isDrawn)
}

/** Prints the message as it is now, if it does not stand in its old place. */
async function printAgain(
  { terminal, lineOf }: ChangedScreen,
  message: StoredMessage,
  number: number,
  isDrawn: boolean,
): Promise<void> {
  if (terminal.isInteractive && isDrawn) return
  const { beforeMark, mark, afterMark } = await lineOf(message, number)
  terminal.print(`${beforeMark}${mark}${afterMark}`)
}

/** Writes a message as it is now in the place of its line, and so the quotes of it. */
async function redraw(
  { client, terminal, numberOf, lineOf }: ChangedScreen,
  message: StoredMessage,
  number: number,
): Promise<boolean> {
  let isDrawn = terminal.replaceMarked(await lineOf(message, number))
  for (const each of await client.messages(message.conversationId)) {
    const at = numberOf(each)
    if (each.replyToId === message.id && at !== undefined)
      isDrawn = terminal.replaceMarked(await lineOf(each, at)) && isDrawn
  }
  return isDrawn
}

function authorOf(screen: ChangedScreen, message: StoredMessage): string {
  return message.isMe ? 'You' : screen.name(message.conversationId)
}
