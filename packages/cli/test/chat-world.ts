// A relay, homes and chats for a test file, all removed after it.
import { afterAll, beforeAll } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { PipedChat, TtyChat } from './terminals.ts'

/** Two chats of two friends, who have the conversation with each other open. */
export interface Friends {
  readonly alice: TtyChat
  readonly bob: TtyChat
  /** The aliases of alice and bob. */
  readonly aliases: readonly [string, string]
  /** The homes of alice and bob. */
  readonly homes: readonly [string, string]
}

/** A relay and chats of a test file. */
export interface ChatWorld {
  readonly relay: RelayProcess
  /** A folder for this file's own files. */
  readonly root: string
  newHome(): string
  /** Starts a chat in a pseudo-terminal. */
  chatAt(home: string, env?: Record<string, string>, ...args: string[]): TtyChat
  /** Starts a chat over pipes. */
  pipedAt(home: string, ...args: string[]): PipedChat
  /** Starts the chats of two new accounts and makes the accounts friends. */
  friends(env?: Record<string, string>): Promise<Friends>
}

/** Starts a relay with these settings before the tests of a file, and ends everything after them. */
export function useChats(settings: Readonly<Record<string, string>> = {}): ChatWorld {
  let relay: RelayProcess | undefined
  let root = ''
  let homes = 0
  const chats: (TtyChat | PipedChat)[] = []

  beforeAll(async () => {
    relay = await startRelay({ env: settings })
    root = await mkdtemp(join(tmpdir(), 'sotto-chat-'))
  })
  afterAll(async () => {
    for (const chat of chats) chat.process.kill('SIGKILL')
    await relay?.stop()
    await rm(root, { recursive: true })
  })

  const started = (): RelayProcess => {
    if (!relay) throw new Error('the relay has not started yet')
    return relay
  }
  const kept = <C extends TtyChat | PipedChat>(chat: C): C => {
    chats.push(chat)
    return chat
  }
  const world: ChatWorld = {
    get relay() {
      return started()
    },
    get root() {
      return root
    },
    newHome: () => join(root, `home${++homes}`),
    chatAt: (home, env = {}, ...args) =>
      kept(new TtyChat(['--relay', started().url, '--home', home, ...args], env)),
    pipedAt: (home, ...args) => kept(new PipedChat(['--relay', started().url, '--home', home, ...args])),
    friends: async (env = {}) => {
      const places: [string, string] = [world.newHome(), world.newHome()]
      const alice = world.chatAt(places[0], env, '--nickname', 'alice')
      const bob = world.chatAt(places[1], env, '--nickname', 'bob')
      for (const chat of [alice, bob]) {
        await chat.prompts(/Press Enter/)
        chat.enter('')
        await chat.sees(/connected/)
      }
      const aliases: [string, string] = [await aliasIn(alice), await aliasIn(bob)]
      alice.enter(`/add ${aliases[1]}`)
      await bob.sees(/alice asks to be your friend/)
      bob.enter('/accept')
      await alice.sees(/bob \(\w+\) is your friend now/)
      await alice.prompts(/^bob>/)
      await bob.prompts(/^alice>/)
      return { alice, bob, aliases, homes: places }
    },
  }
  return world
}

/** The alias that a chat shows at its start. */
export async function aliasIn(chat: TtyChat | PipedChat): Promise<string> {
  return /alias (\w+)\./.exec(await chat.sees(/You are .*alias \w+\./))?.[1] ?? ''
}
