// The first start: makes a new identity and shows its words once, or recovers one from its words.
import {
  ClientError,
  type Invite,
  type RegistrationMode,
  readInvite,
  type SottoClient,
  validateMnemonic,
} from '@sotto/client'
import { CommandError } from '../command.ts'
import { sanitizeLine } from '../sanitize.ts'
import { explain } from './explain.ts'
import { readPhrase, writePhrase } from './home.ts'
import type { Terminal } from './terminal.ts'

/** The flags that answer questions of the first start. */
export interface OnboardingFlags {
  readonly phraseFile: string | undefined
  readonly nickname: string | undefined
  readonly invite: Invite | undefined
  /** Whether the home has a damaged store, from which the identity could not be read. */
  readonly isDamaged: boolean
  /** Who may register at this relay. */
  readonly mode: RegistrationMode
}

/** What the steps of the first start work with. */
interface FirstStart {
  readonly client: SottoClient
  readonly terminal: Terminal
  readonly flags: OnboardingFlags
  /** Aborted when the user leaves. */
  readonly leaving: AbortSignal
}

/** Runs the first start. Returns false if the user left before the end. */
export async function onboard(
  client: SottoClient,
  terminal: Terminal,
  flags: OnboardingFlags,
  leaving: AbortSignal,
): Promise<boolean> {
  const start: FirstStart = { client, terminal, flags, leaving }
  const phrase = flags.phraseFile === undefined ? undefined : await readPhrase(flags.phraseFile)
  if (phrase !== undefined) {
    if (!(await validateMnemonic(phrase)))
      throw new CommandError(`${flags.phraseFile} does not contain the 12 words of a recovery phrase`)
    return recover(start, phrase)
  }
  if (flags.phraseFile !== undefined || flags.nickname !== undefined) {
    // Without a person to ask, nothing is registered over an identity that can still be saved.
    if (flags.isDamaged) throw new CommandError('the store is damaged, so no new identity is made here')
    return createNew(start)
  }

  if (!flags.isDamaged) terminal.print('Welcome to Sotto. This device has no identity at this relay yet.')
  for (;;) {
    const answer = await terminal.ask('[n]ew identity, or [r]ecover one from its 12 words? ')
    if (answer === undefined) return false
    if (/^n(ew)?$/i.test(answer.trim())) return createNew(start)
    if (/^r(ecover)?$/i.test(answer.trim())) return recoverByWords(start)
    terminal.print('Please answer n or r.')
  }
}

async function createNew({ client, terminal, flags, leaving }: FirstStart): Promise<boolean> {
  if (flags.mode === 'closed')
    throw new CommandError('this relay takes no new accounts; an existing one is recovered by its 12 words')
  let invite = flags.invite?.code
  for (;;) {
    if (flags.mode === 'invite' && invite === undefined) {
      if (flags.nickname !== undefined) throw new CommandError('this relay asks for an invite: --invite LINK')
      const typed = await terminal.ask('This relay asks for an invite. Its link or code: ')
      if (typed === undefined) return false
      invite = readInvite(typed)?.code
      if (invite === undefined) terminal.print('This is no invite.')
      if (invite === undefined) continue
    }
    const nickname = flags.nickname ?? (await terminal.ask('Your nickname, as friends will see it: '))
    if (nickname === undefined) return false
    terminal.setStatus('registering…')
    try {
      const { mnemonic } = await client.create({
        nickname,
        signal: leaving,
        ...(invite === undefined ? {} : { invite }),
      })
      terminal.setStatus('')
      if (flags.phraseFile === undefined) return (await showWords(terminal, mnemonic)) && !leaving.aborted
      await writePhrase(flags.phraseFile, mnemonic)
      terminal.print(`The 12 words of your recovery phrase are in ${flags.phraseFile}.`)
      return true
    } catch (error) {
      terminal.setStatus('')
      if (
        error instanceof ClientError &&
        error.refusal === 'INVITE_INVALID' &&
        flags.nickname === undefined
      ) {
        terminal.print(explain(error))
        invite = undefined
        continue
      }
      if (
        !(error instanceof ClientError) ||
        error.code !== 'INVALID_ARGUMENT' ||
        flags.nickname !== undefined
      )
        throw error
      terminal.print(error.message)
    }
  }
}

async function showWords(terminal: Terminal, mnemonic: string): Promise<boolean> {
  const words = mnemonic.split(' ').map((word, at) => `${String(at + 1).padStart(2)}. ${word.padEnd(10)}`)
  const rows = [0, 3, 6, 9].map((at) => `   ${words.slice(at, at + 3).join('')}`.trimEnd())
  const text = `
Your recovery phrase:

${rows.join('\n')}

Write these 12 words down on paper, in this order. They are your identity:
anyone who has them has your account, and without them you cannot recover it.
They are not shown again.
`
  await terminal.showOnce(text, 'Press Enter once you have written them down. ')
  return true
}

async function recoverByWords(start: FirstStart): Promise<boolean> {
  const { terminal } = start
  for (;;) {
    const words = await terminal.ask('Your 12 words: ', { isSecret: true })
    if (words === undefined) return false
    if (!(await validateMnemonic(words))) {
      terminal.print('These are not the 12 words of a recovery phrase. Check spelling and order.')
      continue
    }
    try {
      return await recover(start, words)
    } catch (error) {
      if (!(error instanceof ClientError) || error.code !== 'ACCOUNT_NOT_FOUND') throw error
      terminal.print('This relay has no account for these words.')
    }
  }
}

async function recover({ client, terminal, leaving }: FirstStart, mnemonic: string): Promise<boolean> {
  terminal.setStatus('recovering…')
  try {
    const { nickname } = await client.recover({ mnemonic, signal: leaving })
    terminal.print(
      `Welcome back, ${sanitizeLine(nickname)}. Messages that another device has received are not on this device.`,
    )
    return true
  } finally {
    terminal.setStatus('')
  }
}
