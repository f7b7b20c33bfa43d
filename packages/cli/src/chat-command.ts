// sotto chat: a client at the terminal.
import { ClientError, type Invite, readInvite, registrationMode, SottoClient } from '@sotto/client'
import { forwardSecrecy } from '@sotto/client/forward-secrecy'
import { Chat } from './chat/chat.ts'
import { chatCommands } from './chat/chat-commands.ts'
import { explain } from './chat/explain.ts'
import { folderOf, type Home, openHome } from './chat/home.ts'
import { onboard } from './chat/onboarding.ts'
import { PlainTerminal } from './chat/plain-terminal.ts'
import { qrOf } from './chat/qr.ts'
import type { Terminal } from './chat/terminal.ts'
import { TtyTerminal } from './chat/tty-terminal.ts'
import { type Command, CommandError, type Flags, textFlag, UsageError } from './command.ts'
import { sanitizeLine } from './sanitize.ts'

const DEFAULT_RELAY = 'http://localhost:8080'
/** How long the chat waits for unsent messages before it ends. */
const MAX_LEAVING_MS = 5000

export const chatCommand: Command = {
  name: 'chat',
  summary: 'chat with friends in this terminal',
  help: `Usage: sotto chat [--relay URL] [--home DIR] [--phrase-file F] [--nickname N]
                  [--invite LINK]

A terminal client. The first start makes a new identity, or recovers one from its 12 words.

  --relay URL      the relay (default ${DEFAULT_RELAY})
  --home DIR       where to keep identity and history, in one folder per relay
                   (default $SOTTO_HOME, otherwise ~/.sotto)
  --phrase-file F  on the first start, recover from the 12 words in F. If F does not exist,
                   make a new identity and write its words to F
  --nickname N     on the first start, make a new identity with this name without asking
  --invite LINK    on the first start, the link or code of an invite, for a relay that asks
                   for one. A link also says which relay, if --relay does not

The recovery phrase and the history are stored unencrypted in that folder. Only your user
may read it (0700, files 0600), but any program that can read your files can read them.

In the chat, /help lists all commands. Without a terminal, the chat reads lines from
standard input and prints plain text. NO_COLOR is respected.`,
  options: {
    relay: { type: 'string' },
    home: { type: 'string' },
    'phrase-file': { type: 'string' },
    nickname: { type: 'string' },
    invite: { type: 'string' },
  },
  run: runChat,
}

async function runChat(flags: Flags): Promise<number> {
  const invite = inviteOf(flags)
  const relayUrl = parseRelay(textFlag(flags, 'relay') ?? invite?.relayUrl ?? DEFAULT_RELAY)
  const home = await openHome(folderOf(textFlag(flags, 'home'), relayUrl))
  const client = await SottoClient.open({
    ...{ relayUrl: relayUrl.href, store: home.store, forwardSecrecy: forwardSecrecy() },
  })
  const hasColour = process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
  const terminal = openTerminal(hasColour)
  const chat = new Chat(client, terminal, relayUrl.host, hasColour, chatCommands)
  const leave = () => {
    chat.leave({ isHurried: true })
    terminal.interrupt()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, leave)
  try {
    const isFirstStart = client.identity === undefined
    if (home.isNewlyDamaged || (isFirstStart && home.damaged.length > 0))
      terminal.print(explainDamage(home, isFirstStart))
    if (isFirstStart) {
      // The first start needs the relay, so this asks for it before it asks the user anything.
      const mode = await registrationMode(relayUrl.href, { signal: chat.leaving })
      const onboardingFlags = {
        phraseFile: textFlag(flags, 'phrase-file'),
        nickname: textFlag(flags, 'nickname'),
        ...{ invite, mode },
        isDamaged: home.damaged.length > 0,
      }
      if (!(await onboard(client, terminal, onboardingFlags, chat.leaving))) return 0
    }
    const { aliasId = '', nickname = '' } = client.identity ?? {}
    if (isFirstStart) terminal.print(qrOf(aliasId, hasColour))
    terminal.print(`You are ${sanitizeLine(nickname)}, alias ${aliasId}. /help lists all commands.`)
    await chat.run()
    await waitForUnsent(client)
    return 0
  } catch (error) {
    if (chat.leaving.aborted) return 0
    throw error instanceof ClientError ? new CommandError(explainStart(error, relayUrl)) : error
  } finally {
    terminal.close()
    await client.close()
    // Standard input may still be open and would keep the process alive.
    process.stdin.unref?.()
  }
}

function parseRelay(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new UsageError(`--relay takes an address such as ${DEFAULT_RELAY}, not "${text}"`)
}

function openTerminal(hasColour: boolean): Terminal {
  const { stdin, stdout } = process
  const isInteractive = stdin.isTTY === true && stdout.isTTY === true && process.env.TERM !== 'dumb'
  return isInteractive ? new TtyTerminal(stdin, stdout, hasColour) : new PlainTerminal(stdin, stdout)
}

async function waitForUnsent(client: SottoClient): Promise<void> {
  const deadline = Date.now() + MAX_LEAVING_MS
  while (client.networkState === 'connected' && (await client.countUnsent()) > 0 && Date.now() < deadline)
    await Bun.sleep(20)
}

function explainDamage({ folder, damaged, isNewlyDamaged }: Home, isIdentityLost: boolean): string {
  const found = `! The store of this chat ${isNewlyDamaged ? 'is' : 'was'} damaged:
  ${folder}
  What could be read of it is kept. The damaged file is
  ${damaged.join('\n  ')}`
  if (!isIdentityLost)
    return `${found}
  Some messages or people may be missing here. Nothing else is to be done.`
  return `${found}
  Your identity could not be read. It is not lost if you have its 12 words, or a
  copy of the folder.
  · With the words, choose [r] to recover it. The chat then begins without the
    messages that are left here; the damaged file stays.
  · With a copy of the folder, leave now (Ctrl-C), and put it in the place of
    the folder above.`
}

function inviteOf(flags: Flags): Invite | undefined {
  const text = textFlag(flags, 'invite')
  const invite = text === undefined ? undefined : readInvite(text)
  if (text !== undefined && !invite) throw new UsageError('--invite takes the link or the code of an invite')
  return invite
}

function explainStart(error: ClientError, relayUrl: URL): string {
  if (error.code === 'NETWORK')
    return `no relay answers at ${relayUrl.href}; start one with "sotto serve" or choose another with --relay`
  if (error.code === 'ACCOUNT_NOT_FOUND')
    return `the relay at ${relayUrl.host} has no account for these words`
  return explain(error)
}
