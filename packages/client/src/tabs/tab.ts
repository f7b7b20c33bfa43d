// One of the tabs that share a client: it waits to be the leader, runs the client as the leader, or sends it
// requests.
import type { ClientOptions, SottoClient } from '../client.ts'
import { asClientError, ClientError, unreachable } from '../client-error.ts'
import type { ClientEventName, ClientEvents } from '../events/events.ts'
import type { HostedPart, ModulePart } from '../module-part.ts'
import { type Deferred, deferred, type Platform, randomUuid } from '../platform/platform.ts'
import type { ClientStore } from '../stores/stores.ts'
import type { TabMethod } from '../tab-method.ts'
import { carryEvent } from './carried-events.ts'
import { Leader } from './leader.ts'
import { watchPageLifecycle } from './page-lifecycle.ts'
import { TabChannel, type TabMessage, type TabState } from './tab-channel.ts'
import { TabEvents } from './tab-events.ts'
import { TabLock } from './tab-lock.ts'
import { isOfModule, onClient, TabParts } from './tab-parts.ts'
import { TabRequests } from './tab-requests.ts'

/** How long a tab waits for a leader, or to be the leader itself. Opening a large store takes a while. */
const LEADER_TIMEOUT_MS = 30_000

/** What a tab needs. */
export interface TabOptions {
  /** The name of the lock and of the channel. */
  readonly name: string
  readonly surroundings: Omit<ClientOptions, 'store'>
  readonly platform: Omit<Platform, 'store'>
  readonly openStore: () => Promise<ClientStore>
}

/** One tab: a member of the tabs that share a client. */
export class Tab {
  readonly #id: string
  /** The state and the events that this tab reports to its application. */
  readonly events = new TabEvents()
  readonly #options: TabOptions
  readonly #channel: TabChannel
  readonly #lock: TabLock
  readonly #requests: TabRequests
  readonly #parts = new TabParts(this.events.emitter)
  readonly #leavingHandlers: (() => void)[] = []
  /** See `SharedClient.loadModulesWith`. */
  loadModules: () => Promise<unknown> = async () => {}
  /** Work of this tab that waits until the tab is the leader. */
  readonly #waitingToLead = new Set<Deferred<Leader>>()
  readonly #ready = deferred<void>()
  /** The leader, if it is this tab. */
  #leader: Leader | undefined
  /** The id of the leader, if this tab knows one. */
  #leaderId: string | undefined
  #hasHadLeader = false
  /**
   * Counts how often this tab began or stopped to lead, so that late work of an earlier term is recognised.
   */
  #term = 0
  #stopping: Promise<void> = Promise.resolve()
  #isActive = false
  #stopWatching: () => void = () => {}
  #endReason: ClientError | undefined
  /** How many pieces of work must end before another tab may be the leader. */
  #holds = 0
  #isAskedToHandOver = false

  constructor(options: TabOptions) {
    this.#options = options
    this.#id = this.#newId()
    this.#channel = new TabChannel(options.name, {
      onMessage: (message) => this.#receive(message),
      onNewer: () =>
        this.#end(new ClientError('OUTDATED_TAB', 'another tab runs a newer version; load this one again')),
      onUnreadable: (cause) => this.events.reportUnreadable(cause),
    })
    this.#requests = new TabRequests({
      clock: options.platform.clock,
      newId: () => this.#newId(),
      leader: () => this.#leader,
      leaderId: () => this.#leaderId,
      becomeLeader: () => this.#becomeLeader(),
      hold: () => this.#hold(),
      post: (message) => this.#channel.post(message),
      findMethod: (name) => this.#parts.find(name),
      loadModules: () => this.#loadModules(),
      onEnded: () => this.#announceChange(),
    })
    this.#lock = new TabLock(
      options.name,
      () => void this.#openClient(),
      (error) => this.#end(asClientError(error, 'STORE_LOCKED')),
    )
  }

  /**
   * Joins the other tabs; resolves once one of the tabs is the leader. @throws ClientError what opening the
   * store throws.
   */
  async open(): Promise<void> {
    this.#stopWatching = watchPageLifecycle(
      () => this.#pause(),
      () => this.#resume(),
    )
    this.#resume()
    const cancel = this.#options.platform.clock.after(LEADER_TIMEOUT_MS, () =>
      this.#end(new ClientError('NO_ANSWER', 'another tab runs the client and does not answer')),
    )
    await this.#ready.promise.finally(cancel)
  }

  get hasEnded(): boolean {
    return this.#endReason !== undefined
  }

  /**
   * Requests a method from the leader. If the leader changes before it answers, the new leader is asked
   * again.
   */
  async ask<A extends readonly unknown[], R>(method: TabMethod<SottoClient, A, R>, args: A): Promise<R> {
    if (this.#endReason) throw this.#endReason
    return this.#requests.ask(method, args)
  }

  /** See `hostPart`. */
  host<T>(part: ModulePart<T>): HostedPart<T> {
    this.#parts.add(part)
    if (this.#leader) this.#openParts(this.#leader)
    return {
      call: (method, args) => this.ask(onClient(part, method), args),
      on: (event, handler) => this.#parts.events.on(event, handler),
      tabs: {
        onTakeover: (handler) => this.events.onTakeover(handler),
        onLeaving: (handler) => this.#leavingHandlers.push(handler),
      },
    }
  }

  async #loadModules(): Promise<void> {
    try {
      await this.loadModules()
    } catch (cause) {
      const error = new ClientError('HANDLER_FAILED', 'the modules of the application cannot be loaded', {
        cause,
      })
      this.events.emit('error', error)
    }
  }

  /**
   * Makes this tab the leader and runs something on the client; runs it again if this tab stopped leading
   * meanwhile.
   */
  async runHere<R>(run: (client: SottoClient) => Promise<R>): Promise<R> {
    for (;;) {
      const leader = await this.#becomeLeader()
      const release = this.#hold()
      try {
        return await run(leader.client)
      } catch (error) {
        if (this.#endReason) throw this.#endReason
        if (this.#leader === leader) throw error
      } finally {
        release()
      }
    }
  }

  /** Opens the store again, in this tab. While that is not possible, nothing changes. */
  async reopen(): Promise<void> {
    if (this.#endReason) throw this.#endReason
    await (await this.#options.openStore()).close()
    const leading = this.#waitToLead()
    if (this.#leader) void this.#handOver()
    await leading
  }

  /** Keeps this tab the leader until the returned function is called. */
  #hold(): () => void {
    this.#holds += 1
    return () => {
      this.#holds -= 1
      this.#announceChange()
      if (this.#isAskedToHandOver) void this.#handOver()
    }
  }

  /** Leaves the other tabs. Waiting requests fail; the client finishes writing what it has accepted. */
  async close(): Promise<void> {
    this.#end(new ClientError('CLOSED', 'the client is closed'))
    await this.#stopping
  }

  #resume(): void {
    if (this.#isActive || this.#endReason) return
    this.#isActive = true
    this.#channel.open()
    this.#lock.queue()
    this.#channel.post({ type: 'hello' })
    this.#requests.restartTimeouts()
  }

  // A page that is frozen, or kept for the back button, runs no code, so another tab must get the lock at
  // once, without waiting for writes. Writes that the database has already received take effect before the
  // next leader reads. Other writes are dropped: made after this page resumes, they would undo newer writes
  // of other tabs. Nothing is lost: the next leader gets the same requests, and the relay sends unconfirmed
  // messages again.
  #pause(): void {
    if (!this.#isActive) return
    for (const handler of this.#leavingHandlers) handler()
    this.#isActive = false
    void this.#stopLeading('abandon')
    this.#lock.leave()
    this.#channel.close()
  }

  async #openClient(): Promise<void> {
    if (this.#endReason) return
    this.#term += 1
    const term = this.#term
    try {
      await this.#stopping
      const store = await this.#options.openStore()
      const options: ClientOptions = { ...this.#options.surroundings, store }
      const leader = await Leader.open(this.#newId(), options, (name, event) => {
        if (this.#leader === leader) this.#sendEvent(name, event)
      })
      if (term === this.#term) this.#startLeading(leader)
      else await leader.stop()
    } catch (error) {
      if (term === this.#term) this.#end(asClientError(error, 'STORE_FAILED'))
    }
  }

  #startLeading(leader: Leader): void {
    // All tabs share the connection: this leader connects if the previous one was to be connected.
    const shouldConnect = this.events.state.networkState !== 'disconnected'
    this.#leader = leader
    // Before the connection, so that no part misses a frame.
    this.#openParts(leader)
    if (shouldConnect && leader.client.identity) leader.client.connect()
    this.#leaderId = leader.id
    this.#announce(leader)
    for (const waiting of this.#waitingToLead) waiting.resolve(leader)
    this.#onNewLeader()
  }

  /** Opens the modules' parts. Their events go to this tab and all others. */
  #openParts(leader: Leader): void {
    this.#parts.openOn(leader.client, (name, event) => {
      if (this.#leader !== leader) return
      this.#channel.post({ type: 'event', name, event })
      this.#parts.events.emit(name, event)
    })
  }

  /** Stops being the leader, if this tab is; resolves once the client has ended. */
  #stopLeading(how: 'stop' | 'abandon' = 'stop'): Promise<void> {
    this.#term += 1
    const leader = this.#leader
    this.#leader = undefined
    this.#leaderId = undefined
    if (leader) {
      const shouldConnect = this.events.state.networkState !== 'disconnected'
      this.#stopping = leader[how]().catch((error: unknown) => {
        this.events.emit('error', asClientError(error, 'STORE_FAILED'))
      })
      this.events.setNetworkState(shouldConnect ? 'connecting' : 'disconnected')
    }
    return this.#stopping
  }

  /** Lets another tab be the leader, as soon as nothing holds this one. */
  async #handOver(): Promise<void> {
    this.#isAskedToHandOver = this.#holds > 0
    if (this.#isAskedToHandOver || !this.#leader) return
    const stopped = this.#stopLeading()
    const term = this.#term
    await stopped
    if (term !== this.#term) return
    this.#lock.leave()
    this.#lock.queue()
  }

  async #becomeLeader(): Promise<Leader> {
    if (this.#endReason) throw this.#endReason
    return this.#leader ?? this.#waitToLead()
  }

  /** Asks the leader to step down, and waits until this tab is the leader, again if it is now. */
  async #waitToLead(): Promise<Leader> {
    const waiting = deferred<Leader>()
    this.#waitingToLead.add(waiting)
    const cancel = this.#options.platform.clock.after(LEADER_TIMEOUT_MS, () =>
      waiting.reject(new ClientError('NO_ANSWER', 'another tab runs the client and does not pass it on')),
    )
    this.#channel.post({ type: 'hand_over', to: this.#id })
    try {
      return await waiting.promise
    } finally {
      cancel()
      this.#waitingToLead.delete(waiting)
    }
  }

  #receive(message: TabMessage): void {
    switch (message.type) {
      case 'hello':
        if (this.#leader) this.#announce(this.#leader)
        return
      case 'leading':
        return this.#receiveLeader(message.leader, message.state)
      case 'request':
        void this.#requests.runForTab(message)
        return
      case 'taken':
      case 'missing':
      case 'answer':
      case 'failure':
        return this.#requests.receive(message)
      case 'event':
        if (isOfModule(message.name)) return this.#parts.events.emit(message.name, message.event)
        return this.events.emitCarried(message.name, message.event)
      case 'hand_over':
        if (this.#leader) void this.#handOver()
        else if (message.to !== this.#id && this.#waitingToLead.size === 0) this.#lock.moveToEnd()
        return
      default:
        return unreachable(message)
    }
  }

  #receiveLeader(leaderId: string, state: TabState): void {
    // An old message of the previous leader: this tab is the leader now.
    if (this.#leader) return
    const isNew = leaderId !== this.#leaderId
    this.#leaderId = leaderId
    this.events.setState(state)
    if (isNew) this.#onNewLeader()
  }

  #onNewLeader(): void {
    this.#ready.resolve()
    if (this.#waitingToLead.size > 0 && !this.#leader) this.#channel.post({ type: 'hand_over', to: this.#id })
    this.#requests.dispatchAll()
    if (this.#hasHadLeader) this.events.emitTakeover()
    this.#hasHadLeader = true
  }

  /** Sends an event of the client to this tab and all others. */
  #sendEvent<N extends ClientEventName>(name: N, event: ClientEvents[N]): void {
    // These are parts of the state, which is announced as a whole.
    if (name === 'network_state' || name === 'lock_state' || name === 'identity_changed')
      return this.#announceChange()
    this.#channel.post({ type: 'event', name, event: carryEvent(event) })
    this.events.emit(name, event)
  }

  /** Sends the state to every tab if it has changed. */
  #announceChange(): void {
    if (this.#leader && !isSameState(this.#leader.state, this.events.state)) this.#announce(this.#leader)
  }

  #announce({ id, state }: Leader): void {
    this.#channel.post({ type: 'leading', leader: id, state })
    this.events.setState(state)
  }

  /** Leaves the other tabs permanently. */
  #end(reason: ClientError): void {
    if (this.#endReason) return
    for (const handler of this.#leavingHandlers) handler()
    this.#endReason = reason
    this.#stopWatching()
    // The lock is released after the store is closed, so that the next leader finds everything written.
    const stopped = this.#stopLeading()
    this.#isActive = false
    this.#channel.close()
    this.#stopping = stopped.finally(() => this.#lock.leave())
    this.#ready.reject(reason)
    this.#requests.failAll(reason)
    for (const waiting of this.#waitingToLead) waiting.reject(reason)
    this.events.setNetworkState('disconnected')
    if (reason.code !== 'CLOSED') this.events.emit('error', reason)
    this.events.emitter.end()
  }

  #newId(): string {
    return randomUuid(this.#options.platform.random)
  }
}

function isSameState(a: TabState, b: TabState): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
