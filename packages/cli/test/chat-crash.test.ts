// Two real chats with forward secrecy that are killed again and again while both of them send.
import { expect, test } from 'bun:test'
import { watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { rounds } from '../../protocol/test/rounds.ts'
import { randomOf } from '../../relay/test/seeded-random.ts'
import { aliasIn, useChats } from './chat-world.ts'
import { storedIn } from './stored-messages.ts'
import { type PipedChat, until } from './terminals.ts'

const world = useChats()
const { newHome, pipedAt } = world

/** Each side sends so many: enough for a commit of its own, which is due after 100. */
const TEXTS = 110
const KILLS = rounds(10, 60)
const SEED = Number(process.env.SEED ?? 20_261_128)
/** A chat is killed at the latest when its folder has changed so often for each text that it shows. */
const CHANGES = 2
/** So many lines may be typed before the chat has shown the first of them. */
const AHEAD = 4

/** How long both may take until each has all messages of the other. */
const PATIENCE_MS = 90_000
const EXCHANGES = 50

/** Somebody who types texts into a chat, one after the other, and starts it again when it was killed. */
class Talker {
  readonly name: string
  readonly home = newHome()
  chat: PipedChat
  /** Everything that the chat has printed before what is in `chat.output`. */
  #before = ''
  #typed = 0
  /** The texts that the chat has surely kept: it has shown them. */
  #kept = 0
  #isKilled = false

  constructor(name: string) {
    this.name = name
    this.chat = pipedAt(this.home, '--nickname', name, '--phrase-file', `${this.home}.phrase`)
  }

  /** Everything that the chat has printed since its first start. */
  get printed(): string {
    return this.#before + this.chat.output
  }

  /** Types the next texts until so many more are kept, at most all, or until the chat is killed. */
  async talk(more: number): Promise<void> {
    const end = Math.min(TEXTS, this.#kept + more)
    while (this.#kept < end && !this.#isKilled) {
      for (; this.#typed < Math.min(TEXTS, this.#kept + AHEAD); this.#typed += 1)
        this.chat.enter(this.textOf(this.#typed))
      const shown = new RegExp(`you: ${this.textOf(this.#kept)}$`, 'm')
      await until(
        String(shown),
        () => shown.test(this.chat.output) || this.#isKilled,
        () => this.chat.output,
      )
      if (shown.test(this.chat.output)) this.#kept += 1
    }
  }

  /**
   * Types the next texts. The chat is killed when its folder has changed so often, at the latest when so many
   * texts are kept. It is started again, and types again what it has not kept.
   */
  async talksUntilKilled(more: number, changes: number): Promise<void> {
    const { process } = this.chat
    const [folder = ''] = await readdir(this.home)
    let left = changes
    const watcher = watch(join(this.home, folder), () => {
      left -= 1
      if (left > 0) return
      this.#isKilled = true
      process.kill('SIGKILL')
    })
    await this.talk(more)
    watcher.close()
    process.kill('SIGKILL')
    await process.exited
    this.#isKilled = false
    this.#before += this.chat.output
    this.chat = pipedAt(this.home)
    const history = await this.history()
    while (history.includes(`you: ${this.textOf(this.#kept)}\n`)) this.#kept += 1
    this.#typed = this.#kept
  }

  /** The whole conversation, as the chat shows it. */
  async history(): Promise<string> {
    this.#before += this.chat.output
    this.chat.output = ''
    this.chat.enter('/history 1000')
    this.chat.enter('/end')
    await this.chat.sees(/There is no command \/end;/)
    return this.chat.output
  }

  textOf(at: number): string {
    return `${this.name} says ${at}`
  }

  /** Waits until the chat has all texts of somebody else, and the relay has all of its own. */
  async hasAll(other: Talker): Promise<void> {
    const late = performance.now() + PATIENCE_MS
    for (;;) {
      const history = await this.history()
      const texts = Array.from({ length: TEXTS }, (_, at) => `${other.name}: ${other.textOf(at)}\n`)
      const missing = texts.filter((text) => !history.includes(text))
      if (missing.length === 0 && !/^\S+(?: \S+)? … +#/m.test(history)) return
      if (performance.now() > late) throw new Error(`${this.name} lacks ${missing.join()}:\n${history}`)
      await Bun.sleep(200)
    }
  }
}

/** Two chats of friends, whose messages have forward secrecy. */
async function twoTalkers(): Promise<[Talker, Talker]> {
  const [alice, bob] = [new Talker('alice'), new Talker('bob')]
  for (const { chat } of [alice, bob]) await chat.sees(/• connected/)
  alice.chat.enter(`/add ${await aliasIn(bob.chat)}`)
  await bob.chat.sees(/alice asks to be your friend/)
  bob.chat.enter('/accept')
  for (const { chat } of [alice, bob]) await chat.sees(/^── /m)
  for (let at = 0; at < EXCHANGES; at += 1) {
    if ([alice, bob].every(({ printed }) => printed.includes('from here on with forward secrecy')))
      return [alice, bob]
    alice.chat.enter(`question ${at}`)
    await bob.chat.sees(new RegExp(`alice: question ${at}$`, 'm'))
    bob.chat.enter(`answer ${at}`)
    await alice.chat.sees(new RegExp(`bob: answer ${at}$`, 'm'))
  }
  throw new Error(`no forward secrecy:\n${alice.printed}`)
}

test(`chats that are killed ${KILLS} times (SEED=${SEED}) lose and double nothing, under keys of their own`, async () => {
  const random = randomOf(SEED)
  const [alice, bob] = await twoTalkers()
  const most = Math.ceil((TEXTS / KILLS) * 2)
  for (let kill = 0; kill < KILLS; kill += 1) {
    const [victim, other] = random(2) === 0 ? [alice, bob] : [bob, alice]
    const [own, theirs] = [random(most), random(most)]
    await Promise.all([victim.talksUntilKilled(own, random(own * CHANGES + 1)), other.talk(theirs)])
  }
  await Promise.all([alice.talk(TEXTS), bob.talk(TEXTS)])
  await alice.hasAll(bob)
  await bob.hasAll(alice)
  for (const { chat, printed } of [alice, bob]) {
    expect(await chat.end()).toBe(0)
    // No message is missing or cannot be opened, and nobody had to join again.
    expect(printed.match(/^! .*|.*joined.*/gm)).toBeNull()
  }

  const told = async ({ home }: Talker, isAlice: boolean): Promise<string[]> =>
    (await storedIn(home)).map(
      (each) => `${each.isMe === isAlice ? 'alice' : 'bob'}, ${each.version}: ${each.text}`,
    )
  const [own, theirs] = [await told(alice, true), await told(bob, false)]
  expect(own).toEqual(theirs)
  const texts = [alice, bob].flatMap((who) =>
    Array.from({ length: TEXTS }, (_, at) => `${who.name}, 3: ${who.textOf(at)}`),
  )
  expect(own.filter((text) => text.includes(' says ')).toSorted()).toEqual(texts.toSorted())
}, 600_000)
