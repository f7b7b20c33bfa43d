// The account on this device: opens the client that all tabs share, and says what the app can show.
import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Conversation, FriendProfile, NetworkState, PublicIdentity } from '@sotto/client'
import { ClientError, Organizer, Search, UnsentMessages } from '@sotto/client'
import { deleteDatabase, deviceKeyVault, SharedClient, solverIn } from '@sotto/client/browser'
import { passphraseVault } from '@sotto/client/passphrase-vault'
import { conversations, follow, friends } from '@sotto/client/signals'
import { texts } from '../texts/texts.ts'
import type { Phone } from './calls/phone.ts'
import { notifyError } from './notices.ts'
import { go, href } from './route.ts'
import { startWorker } from './trusted-scripts.ts'

/** The client's database, locks and channels have this name. */
const NAME = 'sotto'

/** What is the case with the account on this device. */
export type AccountState = 'none' | 'locked' | 'open'

/** The client, its modules, and what of it is shown everywhere. */
export class Session {
  readonly client: SharedClient
  readonly relayUrl: string
  readonly organizer: Organizer
  readonly search: Search
  readonly unsent: UnsentMessages

  readonly #account = signal<AccountState>('none')
  readonly #identity = signal<PublicIdentity | undefined>(undefined)
  readonly #network = signal<NetworkState>('disconnected')
  readonly #isOnline = signal(navigator.onLine)
  // A browser knows at once that it has no network; a connection that says nothing is noticed later.
  readonly #shownNetwork = computed(() => (this.#isOnline.value ? this.#network.value : 'disconnected'))
  readonly #isReplaced = signal(false)
  readonly #hasPassphrase = signal(false)
  readonly #conversations = signal<readonly Conversation[] | undefined>(undefined)
  readonly #friends = signal<readonly FriendProfile[]>([])
  readonly #typing = signal<ReadonlySet<string>>(new Set())
  readonly #stopTyping = new Map<string, ReturnType<typeof setTimeout>>()
  #stopFollowing: () => void = () => {}
  #phone: Promise<Phone> | undefined

  /** Opens the client. @throws ClientError as `SharedClient.open` does */
  static async open(relayUrl: string): Promise<Session> {
    const client = await SharedClient.open({
      name: NAME,
      relayUrl,
      secrets: [deviceKeyVault(), passphraseVault()],
      solveProofOfWork: solverIn(() => startWorker('powWorker')),
    })
    return new Session(client, relayUrl)
  }

  private constructor(client: SharedClient, relayUrl: string) {
    this.client = client
    this.relayUrl = relayUrl
    this.organizer = new Organizer(client)
    this.search = new Search(client)
    this.unsent = new UnsentMessages(client)
    client.on('network_state', (state) => {
      this.#network.value = state
      if (state === 'connected') this.#isReplaced.value = false
    })
    client.on('identity_changed', () => this.#look())
    client.on('lock_state', () => this.#look())
    client.on('goaway', ({ reason }) => {
      if (reason === 'new_device_login') this.#isReplaced.value = true
    })
    client.on('typing', ({ conversationId }) => this.#showTyping(conversationId))
    client.on('message', ({ conversationId }) => this.#hideTyping(conversationId))
    client.on('error', (error) => {
      // The state of the connection is shown anyway.
      if (error.code !== 'NETWORK' && error.code !== 'SIGNED_OUT') notifyError(error)
    })
    client.onTakeover(() => this.#look())
    for (const change of ['online', 'offline'])
      addEventListener(change, () => {
        this.#isOnline.value = navigator.onLine
      })
    this.#look()
  }

  /** Whether there is an account, and whether it is open. */
  get account(): ReadonlySignal<AccountState> {
    return this.#account
  }

  /** The user's alias, nickname and keys. */
  get identity(): ReadonlySignal<PublicIdentity | undefined> {
    return this.#identity
  }

  /** Whether the user has set a passphrase on this device. */
  get hasPassphrase(): ReadonlySignal<boolean> {
    return this.#hasPassphrase
  }

  /** The connection to the relay. */
  get network(): ReadonlySignal<NetworkState> {
    return this.#shownNetwork
  }

  /** Another device has connected with this account, and this one does not any more. */
  get isReplaced(): ReadonlySignal<boolean> {
    return this.#isReplaced
  }

  /** All conversations, as the list shows them; undefined until they are read. */
  get conversations(): ReadonlySignal<readonly Conversation[] | undefined> {
    return this.#conversations
  }

  /** Friends, and requests that were sent or received. */
  get friends(): ReadonlySignal<readonly FriendProfile[]> {
    return this.#friends
  }

  /** The conversations whose contact is typing. */
  get typing(): ReadonlySignal<ReadonlySet<string>> {
    return this.#typing
  }

  /** The calls of this tab, loaded when they are asked for. @throws TypeError if they cannot be loaded */
  phone(): Promise<Phone> {
    this.#phone ??= this.#loadPhone()
    return this.#phone
  }

  /** Connects, also after another device has replaced this one. */
  async connect(): Promise<void> {
    this.#isReplaced.value = false
    await this.client.connect()
  }

  /** Sets, changes or removes the passphrase. @throws ClientError as `SharedClient.setPassphrase` does */
  async setPassphrase(passphrase: string | undefined): Promise<void> {
    await this.client.setPassphrase(passphrase)
    this.#look()
  }

  /**
   * Deletes everything on this device, for somebody who has forgotten the passphrase and so cannot open the
   * client. The page is loaded again. @throws ClientError `STORE_LOCKED` if another tab does not let go
   */
  async eraseLocked(): Promise<void> {
    await this.client.close()
    await deleteDatabase(NAME)
    // The place that was open was one of the former account.
    go(href('chats'), { replace: true })
    location.reload()
  }

  #look(): void {
    const { client } = this
    this.#identity.value = client.identity
    this.#network.value = client.networkState
    this.#hasPassphrase.value = client.hasPassphrase
    const account = client.isLocked ? 'locked' : client.identity ? 'open' : 'none'
    const before = this.#account.value
    this.#account.value = account
    if (account === 'open' && before !== 'open') this.#begin()
    if (account !== 'open') this.#end()
  }

  #begin(): void {
    const stops = [
      follow(this.client, conversations(), (list, error) => {
        if (list) this.#conversations.value = list
        else if (!isExpected(error)) notifyError(error)
      }),
      follow(this.client, friends(), (list) => {
        if (list) this.#friends.value = list
      }),
    ]
    this.#stopFollowing = () => {
      for (const stop of stops) stop()
    }
    this.client.connect().catch(notifyError)
  }

  async #loadPhone(): Promise<Phone> {
    try {
      const { Phone } = await import('./calls/phone.ts')
      return new Phone(this.client, (id) => this.#nameOf(id))
    } catch (error) {
      // There was no connection, perhaps: the next who asks tries again.
      this.#phone = undefined
      throw error
    }
  }

  #nameOf(conversationId: string): string {
    const found = this.#conversations.value?.find((each) => each.conversationId === conversationId)
    return found?.name ?? found?.nickname ?? texts.value.calls.somebody
  }

  #end(): void {
    this.#stopFollowing()
    this.#stopFollowing = () => {}
    this.#conversations.value = undefined
    this.#friends.value = []
  }

  #showTyping(conversationId: string): void {
    clearTimeout(this.#stopTyping.get(conversationId))
    this.#stopTyping.set(
      conversationId,
      setTimeout(() => this.#hideTyping(conversationId), 6000),
    )
    this.#typing.value = new Set([...this.#typing.value, conversationId])
  }

  #hideTyping(conversationId: string): void {
    clearTimeout(this.#stopTyping.get(conversationId))
    if (!this.#stopTyping.delete(conversationId)) return
    this.#typing.value = new Set([...this.#typing.value].filter((id) => id !== conversationId))
  }
}

/** A list that cannot be read while the client is locked, or has no identity any more. */
function isExpected(error: unknown): boolean {
  return error instanceof ClientError && ['LOCKED', 'NO_IDENTITY', 'CLOSED'].includes(error.code)
}
