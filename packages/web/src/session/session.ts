// The account on this device: opens the client that all tabs share, and says what the app can show.
import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import type { CallRecord, Conversation, FriendProfile, NetworkState, PublicIdentity } from '@sotto/client'
import { AppData, ClientError, Organizer, Replies } from '@sotto/client'
import { deleteDatabase, deviceKeyVault, SharedClient, solverIn } from '@sotto/client/browser'
import { forwardSecrecy } from '@sotto/client/forward-secrecy'
import { passphraseVault } from '@sotto/client/passphrase-vault'
import { conversations, follow, friends } from '@sotto/client/signals'
import { loadTexts } from '../texts/texts.ts'
import type { Phone } from './calls/phone.ts'
import type { ContactNames, ShownConversation } from './contact-names.ts'
import type { LaterModules } from './later-modules.ts'
import { isStoreBroken, noticeSuspension, notifyError, offerReload, suspension } from './notices.ts'
import { preferences } from './preferences.ts'
import { go, href } from './route.ts'
import { withSame } from './same.ts'
import type { SecrecyLogs } from './secrecy-logs.ts'
import { secrecyStops } from './secrecy-stops.ts'
import { UPLOADS } from './sendable.ts'
import { startWorker } from './trusted-scripts.ts'
import { Typing } from './typing.ts'

/** The client's database, locks and channels have this name. */
const NAME = 'sotto'
/** Overwrites the key of the keys that are deleted after use. */
const startErasing = { startWorker: () => startWorker('erasureWorker') }

/** What is the case with the account on this device. */
export type AccountState = 'none' | 'locked' | 'open'

/** The client, its modules, and what of it is shown everywhere. */
export class Session {
  readonly client: SharedClient
  readonly relayUrl: string
  readonly organizer: Organizer
  readonly replies: Replies

  readonly #account = signal<AccountState>('none')
  readonly #identity = signal<PublicIdentity | undefined>(undefined)
  readonly #network = signal<NetworkState>('disconnected')
  readonly #isOnline = signal(navigator.onLine)
  // A browser knows at once that it has no network. A connection without answers is noticed later.
  readonly #shownNetwork = computed(() => (this.#isOnline.value ? this.#network.value : 'disconnected'))
  readonly #isReplaced = signal(false)
  readonly #hasPassphrase = signal(false)
  /** As the client lists them. */
  #listed: readonly Conversation[] = []
  /** Once they are loaded. */
  #names: ContactNames | undefined
  readonly #conversations = signal<readonly ShownConversation[] | undefined>(undefined)
  readonly #canHaveNames = computed(() =>
    this.#conversations.value?.some(({ hasForwardSecrecy, isLowered }) => hasForwardSecrecy || isLowered),
  )
  readonly #friends = signal<readonly FriendProfile[]>([])
  readonly #missed = signal<readonly CallRecord[]>([])
  readonly #missedCalls = computed(() =>
    this.#missed.value.filter(({ startedAt }) => startedAt > preferences.value.callsSeenAt),
  )
  readonly #typing = new Typing()
  #stopFollowing: () => void = () => {}
  readonly #isTalking = signal(false)
  #phone: Promise<Phone> | undefined
  #later: Promise<LaterModules> | undefined
  #secrecy: Promise<SecrecyLogs> | undefined

  /** Opens the client. @throws ClientError as `SharedClient.open` does */
  static async open(relayUrl: string): Promise<Session> {
    const client = await SharedClient.open({
      name: NAME,
      relayUrl,
      secrets: [deviceKeyVault(), passphraseVault()],
      solveProofOfWork: solverIn(() => startWorker('powWorker')),
      forwardSecrecy: forwardSecrecy(startErasing),
    })
    return new Session(client, relayUrl)
  }

  private constructor(client: SharedClient, relayUrl: string) {
    this.client = client
    this.relayUrl = relayUrl
    this.organizer = new Organizer(client)
    this.replies = new Replies(client)
    // Another tab needs what this one, which runs the client, has not loaded.
    client.loadModulesWith(() => Promise.all([this.later(), this.secrecy(), this.phone()]).catch(offerPart))
    client.on('network_state', (state) => {
      this.#network.value = state
      if (state !== 'connected') return
      this.#isReplaced.value = false
      suspension.value = undefined
    })
    client.on('identity_changed', () => this.#look())
    client.on('lock_state', () => this.#look())
    client.on('goaway', ({ reason }) => {
      if (reason === 'new_device_login') this.#isReplaced.value = true
    })
    client.on('typing', ({ conversationId }) => this.#typing.show(conversationId))
    client.on('message', ({ conversationId }) => {
      this.#typing.hide(conversationId)
      this.beginTalking()
    })
    client.on('secrecy', (event) => this.#withSecrecy((logs) => logs.note(event)))
    client.on('call_waiting', () => this.beginTalking())
    client.on('error', (error) => {
      // Each attempt to connect says it again, and the bar says it already.
      if (noticeSuspension(error)) return
      if (isScriptMissing(error)) offerReload(error)
      // The state of the connection is shown anyway.
      if (error.code !== 'NETWORK' && error.code !== 'SIGNED_OUT') notifyError(error)
    })
    client.onTakeover(() => {
      this.#look()
      if (secrecyStops.value.size > 0) this.#withSecrecy((logs) => logs.findStops())
      if (!isStoreBroken.value) return
      // The store was opened again. Its failure had ended the connection.
      isStoreBroken.value = false
      if (this.#account.value === 'open' && !this.#isReplaced.value) client.connect().catch(notifyError)
    })
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
  get conversations(): ReadonlySignal<readonly ShownConversation[] | undefined> {
    return this.#conversations
  }

  /** Friends, and requests that were sent or received. */
  get friends(): ReadonlySignal<readonly FriendProfile[]> {
    return this.#friends
  }

  /** The missed calls that the user has not seen in the log, the latest first. */
  get missedCalls(): ReadonlySignal<readonly CallRecord[]> {
    return this.#missedCalls
  }

  /** The conversations whose contact is typing. */
  get typing(): ReadonlySignal<ReadonlySet<string>> {
    return this.#typing.conversations
  }

  /**
   * Whether somebody has written or called, or there were messages before. Calls, media and the search, which
   * a first message does not need, are loaded then.
   */
  get isTalking(): ReadonlySignal<boolean> {
    return this.#isTalking
  }

  /** Call it when the user does something that needs more than a first message. */
  beginTalking(): void {
    this.#isTalking.value = true
  }

  /** The calls of this tab, loaded when they are asked for. @throws TypeError if they cannot be loaded */
  phone(): Promise<Phone> {
    this.beginTalking()
    this.#phone ??= this.#loadPhone()
    return this.#phone
  }

  /** What a first message does not need, as search and edits. @throws TypeError if it cannot be loaded */
  later(): Promise<LaterModules> {
    this.#later ??= this.#loadLater()
    return this.#later
  }

  /** What happened to forward secrecy; loaded when asked for. @throws TypeError if it cannot be loaded */
  secrecy(): Promise<SecrecyLogs> {
    this.#secrecy ??= this.#loadSecrecy()
    return this.#secrecy
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
    await deleteDatabase(NAME, startErasing)
    // The open place belonged to the erased account.
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
    // Drafts of another account.
    if (account === 'none') sessionStorage.clear()
    if (account === 'open' && before !== 'open') this.#begin()
    if (account !== 'open') this.#end()
  }

  #begin(): void {
    const stops = [
      follow(this.client, conversations(), (list, error) => {
        if (list) this.#showConversations(list)
        else if (!isExpected(error)) notifyError(error)
      }),
      follow(this.client, friends(), (list) => {
        if (list) this.#friends.value = list
      }),
    ]
    let isOver = false
    this.#stopFollowing = () => {
      isOver = true
      for (const stop of stops) stop()
    }
    const followMissed = async (): Promise<void> => {
      const { followMissedCalls } = await import('./calls/missed-calls.ts')
      if (isOver) return
      stops.push(
        followMissedCalls(this.client, (missed) => {
          this.#missed.value = missed
        }),
      )
    }
    const followNames = async (): Promise<void> => {
      const { ContactNames } = await import('./contact-names.ts')
      if (isOver || this.#names) return
      const names = new ContactNames(this.client)
      this.#names = names
      const stop = names.follow((error) => {
        this.#showNames()
        if (error !== undefined && !isExpected(error)) notifyError(error)
      })
      stops.push(stop, () => {
        this.#names = undefined
      })
    }
    stops.push(
      effect(() => {
        if (this.#isTalking.value) followMissed().catch(notifyError)
      }),
      effect(() => {
        if (this.#canHaveNames.value) followNames().catch(offerPart)
      }),
    )
    this.client.connect().catch(notifyError)
    this.#continueUploads().catch((error: unknown) => {
      if (!isExpected(error)) notifyError(error)
    })
  }

  /** What was being sent when the page was left goes on. What sends it is loaded only then. */
  async #continueUploads(): Promise<void> {
    const kept = await new AppData(this.client).list(UPLOADS)
    if (kept.length === 0) return
    this.beginTalking()
    await (await import('./uploads.ts')).Uploads.of(this.client).restore()
  }

  #showConversations(list: readonly Conversation[]): void {
    const isFirst = this.#conversations.value === undefined
    this.#listed = list
    this.#showNames()
    if (isFirst && list.some(({ lastMessage }) => lastMessage)) this.beginTalking()
    if (isFirst && list.some(({ hasForwardSecrecy }) => hasForwardSecrecy))
      this.#withSecrecy((logs) => logs.findStops())
  }

  /** Shows the conversations with what their contacts call themselves. */
  #showNames(): void {
    const shown = this.#names?.shown(this.#listed) ?? this.#listed
    this.#conversations.value = withSame(this.#conversations.value ?? [], shown)
  }

  async #loadLater(): Promise<LaterModules> {
    try {
      const { LaterModules } = await import('./later-modules.ts')
      return new LaterModules(this.client)
    } catch (error) {
      this.#later = undefined
      throw error
    }
  }

  #withSecrecy(work: (logs: SecrecyLogs) => Promise<void>): void {
    this.secrecy()
      .then(work)
      .catch((error: unknown) => {
        if (!isExpected(error)) notifyError(error)
      })
  }

  async #loadSecrecy(): Promise<SecrecyLogs> {
    try {
      const { SecrecyLogs } = await import('./secrecy-logs.ts')
      await loadTexts()
      return new SecrecyLogs(this.client, (id) => this.#nameOf(id))
    } catch (error) {
      this.#secrecy = undefined
      throw error
    }
  }

  async #loadPhone(): Promise<Phone> {
    try {
      const { Phone } = await import('./calls/phone.ts')
      await loadTexts()
      return new Phone(this.client, (id) => this.#nameOf(id))
    } catch (error) {
      // Perhaps there was no connection. The next call tries again.
      this.#phone = undefined
      throw error
    }
  }

  #nameOf(conversationId: string): string | undefined {
    const found = this.#conversations.value?.find((each) => each.conversationId === conversationId)
    return found?.name ?? found?.nickname
  }

  #end(): void {
    this.#stopFollowing()
    this.#stopFollowing = () => {}
    this.#listed = []
    this.#conversations.value = undefined
    this.#friends.value = []
    this.#missed.value = []
    secrecyStops.value = new Map()
    suspension.value = undefined
  }
}

/** A script of the app could not be loaded. */
function offerPart(cause: unknown): void {
  offerReload(new ClientError('NETWORK', 'a part of the app could not be loaded', { cause }))
}

/** The script of forward secrecy is missing in this tab: an error of another tab has no cause. */
function isScriptMissing({ message, cause }: ClientError): boolean {
  return message === 'the script of forward secrecy cannot be loaded' && cause !== undefined
}

/** A list that cannot be read while the client is locked, or has no identity any more. */
function isExpected(error: unknown): boolean {
  return error instanceof ClientError && ['LOCKED', 'NO_IDENTITY', 'CLOSED'].includes(error.code)
}
