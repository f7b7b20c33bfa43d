// The chat: the open conversation, the display of events, and the handling of typed lines.
import type { ClientEvents, SottoClient, StoredMessage } from '@sotto/client'
import { cut, sanitizeLine } from '../sanitize.ts'
import { showChanges } from './changed-messages.ts'
import { ChannelBoard } from './channel-board.ts'
import { ContactNames, mayRename } from './contact-names.ts'
import { explain, explainPayment, explainRefusal, Notice } from './explain.ts'
import { announceCalls } from './missed-calls.ts'
import { SecrecyDivider, tellSecrecy, tellStop } from './secrecy.ts'
import { secrecyWord } from './secrecy-words.ts'
import { type Numbered, ShownMessages } from './shown-messages.ts'
import type { MarkedLine, Terminal } from './terminal.ts'
import { keyOf, Transcript } from './transcript.ts'
import { Transfers } from './transfers.ts'

const TYPING_SHOWN_MS = 4000
const OPENING_MESSAGES = 20

/** The commands of a chat. */
export interface ChatCommands {
  /** Runs a line that begins with "/". Returns false if the command does not exist. */
  run(chat: Chat, line: string): Promise<boolean>
  /** What may replace a text that begins with "/", as far as it was typed. */
  complete(chat: Chat, text: string): Promise<readonly string[]>
}

/** One chat in one terminal. */
export class Chat {
  readonly client: SottoClient
  readonly terminal: Terminal
  readonly relayName: string
  readonly hasColour: boolean
  readonly transfers: Transfers
  readonly channelBoard: ChannelBoard
  readonly divider = new SecrecyDivider()
  readonly names: ContactNames
  readonly #transcript: Transcript
  readonly #commands: ChatCommands
  readonly #shown = new ShownMessages()
  readonly #undo: (() => void)[] = []
  #openId: string | undefined
  #work: Promise<void> = Promise.resolve()
  #typing = ''
  #typingTimer: ReturnType<typeof setTimeout> | undefined
  #wasConnected = false
  #hasShownSummary = false
  readonly #leaving = new AbortController()
  #leave: () => void = () => {}

  constructor(
    client: SottoClient,
    terminal: Terminal,
    relayName: string,
    hasColour: boolean,
    commands: ChatCommands,
  ) {
    this.client = client
    this.terminal = terminal
    this.relayName = relayName
    this.hasColour = hasColour
    this.transfers = new Transfers(
      () => this.terminal.setStatus(this.#statusLine()),
      (error) => this.#printError(error),
    )
    this.channelBoard = new ChannelBoard(client)
    this.names = new ContactNames(client)
    this.#transcript = new Transcript(hasColour)
    this.#commands = commands
  }

  /** The open conversation. */
  get openId(): string | undefined {
    return this.#openId
  }

  /** Whether a conversation is open. If not, says so. */
  isOpen(): this is Chat & { readonly openId: string } {
    if (this.#openId === undefined) this.terminal.print('No conversation is open; /with <who> opens one.')
    return this.#openId !== undefined
  }

  /** Runs until the user leaves. */
  async run(): Promise<void> {
    this.#listen()
    const left = new Promise<void>((resolve) => {
      this.#leave = resolve
    })
    const conversations = await this.client.conversations()
    await this.names.begin(conversations)
    const [only] = conversations
    if (conversations.length === 1 && only) await this.open(only.conversationId)
    this.showPrompt()
    this.client.connect()
    this.terminal.setStatus(this.#statusLine())
    this.terminal.start({
      onLine: (line) => this.#enqueue(() => this.#onLine(line)),
      onTyping: (line) => this.#onTyping(line),
      onComplete: (text) => this.#complete(text),
      onEnd: () => this.leave({ isHurried: this.terminal.isInteractive }),
    })
    await left
    for (const undo of this.#undo) undo()
    clearTimeout(this.#typingTimer)
  }

  /** Aborted when the user leaves. */
  get leaving(): AbortSignal {
    return this.#leaving.signal
  }

  /** Leaves once all typed lines are processed. In a hurry, transfers are aborted; else they end first. */
  leave({ isHurried }: { readonly isHurried: boolean }): void {
    if (isHurried) this.transfers.abort()
    if (this.leaving.aborted) return
    this.#leaving.abort()
    void this.#work.then(() => this.transfers.settled()).then(() => this.#leave())
  }

  /** A contact's name, safe to print; with the alias if two contacts have the same name. */
  name(contact: string): string {
    return this.names.of(contact)
  }

  /** Opens a conversation: shows its last messages and marks them as read. */
  async open(contact: string): Promise<void> {
    const conversation = await this.client.conversation(contact)
    const { conversationId, contactId, isVerified, hasForwardSecrecy } = conversation
    this.#openId = conversationId
    const state = `${isVerified ? 'verified, ' : ''}${secrecyWord(hasForwardSecrecy)}`
    this.print(`── ${this.name(conversationId)} (${contactId}), ${state} ──`)
    this.divider.begin(hasForwardSecrecy)
    await this.showHistory(Math.max(OPENING_MESSAGES, conversation.unread), conversation.unread)
    await this.client.markRead(conversationId)
    await tellStop(this, conversationId)
    this.showPrompt()
  }

  /** Shows the last messages of the open conversation. A line marks the peer's last `unread` ones as new. */
  async showHistory(count: number, unread = 0): Promise<void> {
    if (this.#openId === undefined) return
    const messages = await this.client.messages(this.#openId, { limit: count })
    const firstNew = messages.filter((message) => !message.isMe && !message.retracted).at(-unread)
    for (const message of messages) {
      if (unread > 0 && message === firstNew) this.terminal.print(`── ${unread} new ──`)
      await this.show(message)
    }
  }

  /** The message with a number such as "12" or "#12". */
  numbered(text: string): Numbered | undefined {
    return this.#shown.find(text)
  }

  /** The last own message of the open conversation that is not retracted. */
  async lastOwn(): Promise<StoredMessage | undefined> {
    if (this.#openId === undefined) return undefined
    return (await this.client.messages(this.#openId)).findLast(
      (message) => message.isMe && !message.retracted,
    )
  }

  /** Sends a message to the open conversation and shows it. */
  async send(text: string, replyToId?: string): Promise<void> {
    if (this.#openId === undefined) {
      this.terminal.print(
        'No conversation is open. /with <alias> opens one, /add <alias> sends a friend request, /help lists all commands.',
      )
      return
    }
    await this.show(await this.client.send(this.#openId, text, replyToId === undefined ? {} : { replyToId }))
  }

  print(text: string): void {
    this.terminal.print(text)
  }

  showPrompt(): void {
    this.terminal.setPrompt(this.#openId === undefined ? '> ' : `${cut(this.name(this.#openId), 20)}> `)
  }

  #listen(): void {
    const { client } = this
    this.#undo.push(
      client.on('message', (message) => this.#enqueue(() => this.#onMessage(message))),
      client.on('status_change', ({ message }) => this.#enqueue(async () => this.#onStatus(message))),
      showChanges({
        ...{ client, terminal: this.terminal, name: (contact) => this.name(contact) },
        numberOf: (message) => this.#shown.numberOf(message),
        lineOf: (message, number) => this.#lineOf(message, number),
        enqueue: (work) => this.#enqueue(work),
      }),
      client.on('changes', (changes) => {
        if (mayRename(changes)) this.#enqueue(() => this.#readNames())
      }),
      client.on('typing', ({ conversationId }) => this.#showTyping(conversationId)),
      client.on('network_state', (state) => this.#onNetwork(state)),
      client.on('synced', () => this.#enqueue(() => this.#showSummary())),
      client.on('goaway', (event) => this.#onGoaway(event)),
      client.on('friend_request', (friend) => {
        this.terminal.print(
          `• ${this.name(friend.alias_id)} asks to be your friend: /accept ${friend.alias_id} or /reject ${friend.alias_id}`,
        )
      }),
      client.on('friend_accepted', (friend) =>
        this.#enqueue(() => this.#onAccepted(friend.alias_id, friend.conversation_id)),
      ),
      client.on('security_violation', ({ contactId }) => {
        this.terminal.print(
          `! The keys of ${this.name(contactId)} have changed. Somebody may be intercepting your messages, so nothing is sent or read. Ask them over another channel. /newkeys ${contactId} accepts the new keys.`,
        )
      }),
      client.on('secrecy', (event) => this.#enqueue(() => tellSecrecy(this, event))),
      client.on('channel_post', ({ channelId, post }) =>
        this.#enqueue(async () =>
          this.terminal.print(
            this.channelBoard.postLine(channelId, await this.channelBoard.nameOf(channelId), post),
          ),
        ),
      ),
      client.on('payment_confirmed', ({ ref_id }) => this.terminal.print(`• ${explainPayment(ref_id)}`)),
      client.on('error', (error) => this.#onError(error)),
      announceCalls(client, this),
    )
  }

  /** Processes lines and events one after another, so that the output keeps their order. */
  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => this.#onError(error))
  }

  async #onLine(line: string): Promise<void> {
    const text = line.trim()
    if (text === '') return
    if (!text.startsWith('/')) {
      // If no conversation is open, a number chooses one from the list.
      if (this.#openId === undefined && /^\d{1,4}$/.test(text))
        await this.#commands.run(this, `/with ${text}`)
      // A pasted end of line is no part of the message.
      else await this.send(line.replace(/\n+$/, ''))
      return
    }
    if (text.startsWith('//')) return this.send(text.slice(1))
    if (!(await this.#commands.run(this, text)))
      this.terminal.print(`There is no command ${sanitizeLine(text.split(' ')[0] ?? '')}; /help lists them.`)
  }

  async #complete(text: string): Promise<readonly string[]> {
    try {
      return text.startsWith('/') ? await this.#commands.complete(this, text) : []
    } catch (error) {
      this.#onError(error)
      return []
    }
  }

  #onTyping(line: string): void {
    if (this.#openId === undefined || line === '' || line.startsWith('/')) return
    this.client.notifyTyping(this.#openId)
  }

  async #onMessage(message: StoredMessage): Promise<void> {
    if (message.conversationId === this.#openId) {
      this.#clearTyping()
      await this.show(message)
      await this.client.markRead(message.conversationId)
      return
    }
    // Messages that waited at the relay are reported together, once all have arrived.
    if (!this.#hasShownSummary) return
    const { unread } = await this.client.conversation(message.conversationId)
    this.terminal.print(
      `• ${unread} new from ${this.name(message.conversationId)}: /with ${message.fromAliasId}`,
    )
  }

  async #readNames(): Promise<void> {
    for (const [conversationId, before] of await this.names.read()) {
      const conversations = await this.client.conversations()
      const found = conversations.find((each) => each.conversationId === conversationId)
      // Its keys were forgotten, and the name with them.
      if (!found) continue
      const { contactId, nickname } = found
      const known = before ?? sanitizeLine(nickname)
      this.terminal.print(`• ${known} (${contactId}) is called ${this.name(conversationId)} now.`)
      if (conversationId === this.#openId) this.showPrompt()
    }
  }

  #onStatus(message: StoredMessage): void {
    const number = this.#shown.numberOf(message)
    const isShown = this.terminal.changeMark(keyOf(message), this.#transcript.mark(message.status))
    if (message.status === 'failed') {
      this.terminal.print(
        `✗ ${number === undefined ? 'A message' : `#${number}`} to ${this.name(message.conversationId)} was refused: ${explainRefusal(message.failure)} /resend or /drop it.`,
      )
    } else if (!this.terminal.isInteractive && number !== undefined) {
      this.terminal.print(`#${number} ${this.#transcript.word(message.status)}`)
    }
    if (!isShown || message.conversationId === this.#openId) this.terminal.setStatus(this.#statusLine())
  }

  async #onAccepted(aliasId: string, conversationId: string): Promise<void> {
    this.terminal.print(`• ${this.name(aliasId)} (${aliasId}) is your friend now.`)
    if (this.#openId === undefined) await this.open(conversationId)
    // The nickname may not have been known before.
    else this.showPrompt()
  }

  #onNetwork(state: ClientEvents['network_state']): void {
    if (state === 'connected') {
      this.terminal.print('• connected')
      this.#wasConnected = true
    } else if (state === 'connecting' && this.#wasConnected) {
      this.terminal.print('• connection lost, reconnecting…')
      this.#wasConnected = false
    }
    this.terminal.setStatus(this.#statusLine())
  }

  #onGoaway({ reason }: ClientEvents['goaway']): void {
    if (reason === 'new_device_login') {
      this.terminal.print(
        '! This account connected from another device, so this device was disconnected. /connect reconnects it here.',
      )
    } else if (reason === 'account_deleted') {
      this.terminal.print('! This account was deleted.')
    }
  }

  #onError(error: unknown): void {
    if (!this.leaving.aborted) this.#printError(error)
  }

  #printError(error: unknown): void {
    this.terminal.print(error instanceof Notice ? error.message : `! ${explain(error)}`)
  }

  /** Shows once after the start who wrote while this client was offline. */
  async #showSummary(): Promise<void> {
    if (this.#hasShownSummary) return
    this.#hasShownSummary = true
    const unread = (await this.client.conversations()).filter((each) => each.unread > 0)
    if (unread.length === 0) return
    const parts = unread.map((each) => `${each.unread} from ${this.name(each.conversationId)}`)
    this.terminal.print(`• New messages: ${parts.join(', ')}. /with <alias> opens them.`)
  }

  #showTyping(conversationId: string): void {
    const name = this.name(conversationId)
    if (!this.terminal.isInteractive && this.#typing === '' && conversationId === this.#openId)
      this.terminal.print(`• ${name} is typing…`)
    this.#typing = `${name} is typing…`
    clearTimeout(this.#typingTimer)
    this.#typingTimer = setTimeout(() => this.#clearTyping(), TYPING_SHOWN_MS)
    this.terminal.setStatus(this.#statusLine())
  }

  #clearTyping(): void {
    clearTimeout(this.#typingTimer)
    this.#typing = ''
    this.terminal.setStatus(this.#statusLine())
  }

  #statusLine(): string {
    const state = this.client.networkState
    const network =
      state === 'connected'
        ? ''
        : state === 'connecting'
          ? `connecting to ${this.relayName}…`
          : 'not connected'
    return [network, this.transfers.status, this.#typing].filter((part) => part !== '').join(' · ')
  }

  /** Shows a message with its number. */
  async show(message: StoredMessage): Promise<void> {
    const line = this.divider.before(message)
    if (line !== undefined) this.print(line)
    this.terminal.printMarked(await this.#lineOf(message, this.#shown.add(message)))
  }

  async #lineOf(message: StoredMessage, number: number): Promise<MarkedLine> {
    const author = message.isMe ? 'you' : this.name(message.conversationId)
    return this.#transcript.line(message, number, author, await this.#quoted(message))
  }

  async #quoted(message: StoredMessage): Promise<StoredMessage | undefined> {
    const { replyToId } = message
    if (replyToId === undefined) return undefined
    return (await this.client.messages(message.conversationId)).find((each) => each.id === replyToId)
  }
}
