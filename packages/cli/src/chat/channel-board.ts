// The channels that a chat has listed, chosen by their number, their name or their id, and the posts that it
// has shown, which have numbers of their own.
import { type ChannelInfo, type ChannelPost, Channels, type SottoClient } from '@sotto/client'
import { sanitizeLine, sanitizeText } from '../sanitize.ts'
import { Notice } from './explain.ts'
import { clockTime } from './transcript.ts'

interface ShownPost {
  readonly channelId: string
  readonly postId: string
}

/** Lists channels and posts, and remembers what was listed. */
export class ChannelBoard {
  readonly channels: Channels
  #listed: readonly ChannelInfo[] = []
  readonly #names = new Map<string, string>()
  readonly #shown: ShownPost[] = []

  constructor(client: SottoClient) {
    this.channels = new Channels(client)
  }

  /** The channels of the latest list; a command names one by its number in it. */
  get listed(): readonly ChannelInfo[] {
    return this.#listed
  }

  /** Lists the channels that have all words, or without words the account's own and subscribed ones. */
  async list(words: string): Promise<readonly ChannelInfo[]> {
    this.#listed = await (words === '' ? this.channels.mine() : this.channels.search(words))
    for (const channel of this.#listed) this.#names.set(channel.id, sanitizeLine(channel.name))
    return this.#listed
  }

  /** The one channel that a text names. @throws Notice if there is none, or more than one */
  async choose(text: string): Promise<ChannelInfo> {
    if (/^ch_/.test(text)) return await this.channels.get(text)
    if (this.#listed.length === 0) await this.list('')
    const byNumber = /^\d{1,4}$/.test(text) ? this.#listed[Number(text) - 1] : undefined
    if (byNumber) return byNumber
    const wanted = sanitizeLine(text).toLowerCase()
    const names = this.#listed.map((channel) => ({ channel, name: sanitizeLine(channel.name).toLowerCase() }))
    const exact = names.filter(({ name }) => name === wanted)
    const found = exact.length > 0 ? exact : names.filter(({ name }) => name.startsWith(wanted))
    const [only] = found
    if (only && found.length === 1) return only.channel
    throw new Notice(
      only
        ? `Which channel? ${found.map(({ channel }) => `${sanitizeLine(channel.name)} (${channel.id})`).join(', ')}`
        : `There is no channel ${sanitizeLine(text)} in the list; /channels lists them.`,
    )
  }

  /** A channel's name, safe to print. */
  async nameOf(channelId: string): Promise<string> {
    const known = this.#names.get(channelId)
    if (known !== undefined) return known
    const name = sanitizeLine((await this.channels.get(channelId)).name)
    this.#names.set(channelId, name)
    return name
  }

  /** A post as a line, with a number for commands. Its author cannot make it look like another line. */
  postLine(channelId: string, channelName: string, post: ChannelPost): string {
    const { id, created_at, author_alias_id, content } = post
    const shownAt = this.#shown.findIndex(({ postId }) => postId === id)
    const number = shownAt < 0 ? this.#shown.push({ channelId, postId: id }) : shownAt + 1
    const text = sanitizeText(content).split('\n').join('\n      │ ')
    return `${clockTime(Date.parse(created_at))} ▪${number} ${channelName}, ${author_alias_id}: ${text}`
  }

  /** The post that was shown with this number. */
  shownPost(number: number): ShownPost | undefined {
    return this.#shown[number - 1]
  }
}
