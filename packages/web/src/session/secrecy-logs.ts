// Keeps what happened to the forward secrecy of conversations, and knows which of them wait for the user's
// word. Loaded when something happens, or when a conversation shows it.
import { signal } from '@preact/signals'
import { AppData, type Client, SecrecyChoices, type SecrecyEvent } from '@sotto/client'
import { secrecyTexts, secrecyWords } from '../texts/secrecy.ts'
import { nowMs } from './clock.ts'
import { notify } from './notices.ts'
import { go, href, route } from './route.ts'
import { secrecyStops } from './secrecy-stops.ts'

type SecrecyNotice = SecrecyEvent['notice']

/** Something that happened, and when, in milliseconds since 1970. */
export interface Told {
  readonly at: number
  readonly notice: SecrecyNotice
}

/** What happened in a conversation, the latest last, and until when the user has seen it. */
export interface SecrecyLog {
  readonly told: readonly Told[]
  readonly seenAt: number
}

interface Kept extends SecrecyLog {
  readonly isStopped: boolean
}

/** The beginning of the names of what is stored of it. */
const LOGS = 'secrecy/'
/** The most that is kept of a conversation. */
const MOST = 20
/** Each tab hears of an event. The same one again within this time is that of another tab. */
const SAME_MS = 60_000
const NOTHING: Kept = { told: [], seenAt: 0, isStopped: false }

/** What the user should see in the conversation. The rest stands where the security code is. */
const LOUD: ReadonlySet<SecrecyNotice['tell']> = new Set([
  ...(['missing', 'history_differs', 'forked', 'unreadable', 'false_handshake'] as const),
  ...(['false_group_info', 'foreign_key_package', 'no_key_packages', 'relay_went_back'] as const),
  'lowered',
  'waits',
  'later_version',
])

export class SecrecyLogs {
  readonly #data: AppData
  readonly #choices: SecrecyChoices
  readonly #nameOf: (conversationId: string) => string | undefined
  readonly #revision = signal(0)

  constructor(client: Client, nameOf: (conversationId: string) => string | undefined) {
    this.#data = new AppData(client)
    this.#choices = new SecrecyChoices(client)
    this.#nameOf = nameOf
  }

  /** Another number after each change of a log by this tab. */
  get revision(): number {
    return this.#revision.value
  }

  /** What happened in a conversation. @throws ClientError as `AppData` does */
  async read(conversationId: string): Promise<SecrecyLog> {
    return readKept(await this.#data.get(LOGS + conversationId))
  }

  /** Keeps what has happened, and tells it. @throws ClientError as `AppData` and `SecrecyChoices` do */
  async note({ conversationId, notice }: SecrecyEvent): Promise<void> {
    const at = nowMs()
    await this.look(conversationId, (kept) => {
      const isTold = kept.told.some((each) => at - each.at < SAME_MS && isSame(each.notice, notice))
      return isTold ? kept : { ...kept, told: [...kept.told, { at, notice }].slice(-MOST) }
    })
    const [, opened] = route.value.path
    const name = this.#nameOf(conversationId)
    if (!isLoud(notice) || opened === conversationId || name === undefined) return
    const words = secrecyWords(notice, name)
    if (words === undefined) return
    const run = (): void => go(href('chats', conversationId))
    notify(words, { action: { label: secrecyTexts.value.look, run } })
  }

  /** The user has seen what happened. @throws ClientError as `AppData` does */
  async dismiss(conversationId: string): Promise<void> {
    const seenAt = nowMs()
    await this.#change(conversationId, (kept) => ({ ...kept, seenAt }))
  }

  /** Finds the conversations that wait for the user's word. @throws ClientError as `AppData` does */
  async findStops(): Promise<void> {
    for (const { name, value } of await this.#data.list(LOGS))
      if (readKept(value).isStopped) await this.look(name.slice(LOGS.length))
  }

  /** Carries out the user's word: to use this device, or to let the contact join. @throws as `note` does */
  async decide(conversationId: string): Promise<void> {
    const stop = await this.#choices.stopOf(conversationId)
    if (stop === 'peer_rejoins') await this.#choices.allowRejoins(conversationId)
    else if (stop !== undefined) await this.#choices.useThisDevice(conversationId)
    await this.look(conversationId)
  }

  /** Lets messages go without forward secrecy, until the contact has it again. @throws as `note` does */
  async allowOlderVersion(conversationId: string): Promise<void> {
    await this.#choices.allowOlderVersion(conversationId)
  }

  /** Finds out whether a conversation waits for the user, and changes its log. @throws as `note` does */
  async look(conversationId: string, change: (kept: Kept) => Kept = (kept) => kept): Promise<void> {
    const stop = await this.#choices.stopOf(conversationId)
    const stops = new Map(secrecyStops.value)
    if (stop === undefined) stops.delete(conversationId)
    else stops.set(conversationId, stop)
    secrecyStops.value = stops
    await this.#change(conversationId, (kept) => ({ ...change(kept), isStopped: stop !== undefined }))
  }

  async #change(conversationId: string, change: (kept: Kept) => Kept): Promise<void> {
    const name = LOGS + conversationId
    // Other tabs do the same.
    await navigator.locks.request('sotto secrecy logs', async () => {
      const value = await this.#data.get(name)
      const changed = JSON.stringify(change(readKept(value)))
      if (changed === value || (value === undefined && changed === JSON.stringify(NOTHING))) return
      await this.#data.set(name, changed)
      this.#revision.value += 1
    })
  }
}

/** Whether the user should see it in the conversation. */
export function isLoud(notice: SecrecyNotice): boolean {
  return LOUD.has(notice.tell) || (notice.tell === 'rejoined' && notice.by === 'peer')
}

function isSame(one: SecrecyNotice, other: SecrecyNotice): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Reads what is stored. It may come from an archive, so what is no log counts as none. */
function readKept(value: string | undefined): Kept {
  const found = parsed(value)
  if (typeof found !== 'object' || found === null || !('told' in found) || !Array.isArray(found.told))
    return NOTHING
  const seenAt = 'seenAt' in found && typeof found.seenAt === 'number' ? found.seenAt : 0
  const isStopped = 'isStopped' in found && found.isStopped === true
  return { told: found.told.filter(isTold).slice(-MOST), seenAt, isStopped }
}

function parsed(value: string | undefined): unknown {
  try {
    return value === undefined ? undefined : JSON.parse(value)
  } catch {
    return undefined
  }
}

function isTold(value: unknown): value is Told {
  if (typeof value !== 'object' || value === null || !('at' in value) || !('notice' in value)) return false
  const { at, notice } = value
  return typeof at === 'number' && typeof notice === 'object' && notice !== null && 'tell' in notice
}
