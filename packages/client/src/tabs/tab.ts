// One tab's part in sharing a client: in line for the lead, leading, asking who leads, and away.

import type { ClientOptions, SottoClient } from '../client.ts'
import { asClientError, ClientError } from '../client-error.ts'
import { randomUuid } from '../clock.ts'
import type { ClientEventName, ClientEvents } from '../events.ts'
import type { Platform } from '../options.ts'
import type { ClientStore } from '../stores/store.ts'
import { Call, type WaitingCall } from './call.ts'
import { Calls } from './calls.ts'
import { carryError } from './carried-error.ts'
import { carryEvent } from './events.ts'
import { Lead } from './lead.ts'
import type { TabMethod } from './methods.ts'
import { watchPage } from './page-life.ts'
import { TabChannel, type TabMessage, type TabState } from './tab-channel.ts'
import { TabLock } from './tab-lock.ts'
import { TabVoice } from './tab-voice.ts'

/** How long a tab waits to hear who leads, or for another to let it lead. Opening a large store takes a while. */
const LEAD_WITHIN_MS = 30_000

/** What a tab is made of. */
export interface TabOptions {
  /** Of the lock and the channel. */
  readonly name: string
  readonly surroundings: Omit<ClientOptions, 'store'>
  readonly platform: Omit<Platform, 'store'>
  readonly openStore: () => Promise<ClientStore>
}

/** One tab. */
export class Tab {
  readonly #id: string
  /** What the application hears of this tab. */
  readonly voice = new TabVoice()
  readonly #options: TabOptions
  readonly #channel: TabChannel
  readonly #lock: TabLock
  readonly #calls = new Calls()
  /** Those here who wait for this tab to lead. */
  readonly #wantLead = new Set<PromiseWithResolvers<Lead>>()
  readonly #ready = Promise.withResolvers<void>()
  /** The lead, where this tab has it. */
  #lead: Lead | undefined
  /** Who leads, as far as this tab has heard. */
  #leader: string | undefined
  #hasHadLeader = false
  /** Counts gains and losses of the lead, so that what an abandoned one still does is known for that. */
  #life = 0
  #stopping: Promise<void> = Promise.resolve()
  #isHere = false
  #unwatch: () => void = () => {}
  #ended: ClientError | undefined
  /** What runs here and must not lose the lead halfway. */
  #exclusive = 0
  #isAskedToHandOver = false

  constructor(options: TabOptions) {
    this.#options = options
    this.#id = this.#newId()
    this.#channel = new TabChannel(options.name, {
      onMessage: (message) => this.#hear(message),
      onNewer: () =>
        this.#end(new ClientError('OUTDATED_TAB', 'another tab runs a newer version; load this one again')),
      onUnreadable: (cause) => this.voice.unreadable(cause),
    })
    this.#lock = new TabLock(
      options.name,
      () => void this.#gain(),
      (error) => this.#end(asClientError(error, 'STORE_LOCKED')),
    )
  }

  /** Joins the other tabs; resolves once one of them leads, or this one. @throws ClientError what opening the store throws. */
  async open(): Promise<void> {
    this.#unwatch = watchPage(
      () => this.#go(),
      () => this.#come(),
    )
    this.#come()
    const cancel = this.#options.platform.clock.after(LEAD_WITHIN_MS, () =>
      this.#end(new ClientError('NO_ANSWER', 'another tab holds the client and does not answer')),
    )
    await this.#ready.promise.finally(cancel)
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined
  }

  /** Has a method run by whichever tab leads; again by the next, where the lead changes before it has answered. */
  async ask<A extends readonly unknown[], R>(method: TabMethod<A, R>, args: A): Promise<R> {
    if (this.#ended) throw this.#ended
    const call = new Call(this.#newId(), method, args, this.#options.platform.clock)
    this.#calls.add(call)
    this.#dispatch(call)
    return call.answer
  }

  /** Takes the lead and runs something here; once more where the lead was lost in the middle. */
  async runHere<R>(run: (client: SottoClient) => Promise<R>): Promise<R> {
    for (;;) {
      const lead = await this.#takeLead()
      const release = this.#hold()
      try {
        return await run(lead.client)
      } catch (error) {
        if (this.#ended) throw this.#ended
        if (this.#lead === lead) throw error
      } finally {
        release()
      }
    }
  }

  /** Keeps the lead from being handed over, until what this answers is called. */
  #hold(): () => void {
    this.#exclusive += 1
    return () => {
      this.#exclusive -= 1
      this.#share()
      if (this.#isAskedToHandOver) void this.#handOver()
    }
  }

  /** Leaves the other tabs. What waits here fails; what the client has decided on is stored. */
  async close(): Promise<void> {
    this.#end(new ClientError('CLOSED', 'the client is closed'))
    await this.#stopping
  }

  #come(): void {
    if (this.#isHere || this.#ended) return
    this.#isHere = true
    this.#channel.open()
    this.#lock.queue()
    this.#channel.post({ type: 'hello' })
    this.#calls.startWaitingAgain()
  }

  // A page that is frozen, or kept for the back button, runs nothing: another tab must get the lock now, not after what
  // is still being written. What the database has been given comes before whatever the next tab reads; what still waited
  // is given up, since written when this page runs again it would undo what others have written by then. Calls it was
  // for are asked of the next tab; what came from the relay was not confirmed, and comes again.
  #go(): void {
    if (!this.#isHere) return
    this.#isHere = false
    void this.#dropLead('abandon')
    this.#lock.leave()
    this.#channel.close()
  }

  async #gain(): Promise<void> {
    if (this.#ended) return
    this.#life += 1
    const life = this.#life
    try {
      await this.#stopping
      const store = await this.#options.openStore()
      const options: ClientOptions = { ...this.#options.surroundings, store }
      const lead = await Lead.open(this.#newId(), options, (name, event) => {
        if (this.#lead === lead) this.#tell(name, event)
      })
      if (life === this.#life) this.#startLead(lead)
      else await lead.stop()
    } catch (error) {
      if (life === this.#life) this.#end(asClientError(error, 'STORE_FAILED'))
    }
  }

  #startLead(lead: Lead): void {
    // The connection is all tabs': what they had asked of the lead before is asked of this one.
    const isWanted = this.voice.state.networkState !== 'disconnected'
    if (isWanted && lead.client.identity) lead.client.connect()
    this.#lead = lead
    this.#leader = lead.id
    this.#announce(lead)
    for (const waiting of this.#wantLead) waiting.resolve(lead)
    this.#onNewLeader()
  }

  /** Gives up the lead, if this tab has it; resolves once the client has ended. */
  #dropLead(how: 'stop' | 'abandon' = 'stop'): Promise<void> {
    this.#life += 1
    const lead = this.#lead
    this.#lead = undefined
    this.#leader = undefined
    if (lead) {
      const isWanted = this.voice.state.networkState !== 'disconnected'
      this.#stopping = lead[how]().catch((error: unknown) => {
        this.voice.emit('error', asClientError(error, 'STORE_FAILED'))
      })
      this.voice.setNetworkState(isWanted ? 'connecting' : 'disconnected')
    }
    return this.#stopping
  }

  async #handOver(): Promise<void> {
    this.#isAskedToHandOver = this.#exclusive > 0
    if (this.#isAskedToHandOver || !this.#lead) return
    const stopped = this.#dropLead()
    const life = this.#life
    await stopped
    if (life !== this.#life) return
    this.#lock.leave()
    this.#lock.queue()
  }

  async #takeLead(): Promise<Lead> {
    if (this.#ended) throw this.#ended
    if (this.#lead) return this.#lead
    const waiting = Promise.withResolvers<Lead>()
    this.#wantLead.add(waiting)
    const cancel = this.#options.platform.clock.after(LEAD_WITHIN_MS, () =>
      waiting.reject(new ClientError('NO_ANSWER', 'another tab holds the client and does not let go of it')),
    )
    this.#channel.post({ type: 'hand_over', to: this.#id })
    try {
      return await waiting.promise
    } finally {
      cancel()
      this.#wantLead.delete(waiting)
    }
  }

  #hear(message: TabMessage): void {
    switch (message.type) {
      case 'hello':
        if (this.#lead) this.#announce(this.#lead)
        return
      case 'leading':
        return this.#hearLeader(message.leader, message.state)
      case 'call':
        void this.#serve(message)
        return
      case 'taken':
      case 'answer':
      case 'failure':
        return this.#calls.hear(message)
      case 'event':
        return this.voice.emitCarried(message.name, message.event)
      case 'hand_over':
        if (this.#lead) void this.#handOver()
        else if (message.to !== this.#id && this.#wantLead.size === 0) this.#lock.letOthersBefore()
        return
      default:
        return unheard(message)
    }
  }

  #hearLeader(leader: string, state: TabState): void {
    // The last words of the one before.
    if (this.#lead) return
    const isNew = leader !== this.#leader
    this.#leader = leader
    this.voice.setState(state)
    if (isNew) this.#onNewLeader()
  }

  #onNewLeader(): void {
    this.#ready.resolve()
    if (this.#wantLead.size > 0 && !this.#lead) this.#channel.post({ type: 'hand_over', to: this.#id })
    for (const call of this.#calls.waiting()) this.#dispatch(call)
    if (this.#hasHadLeader) this.voice.takenOver()
    this.#hasHadLeader = true
  }

  /** Asks whoever leads; where nobody does yet, the next to lead is asked. */
  #dispatch(call: WaitingCall): void {
    const lead = this.#lead
    if (call.wasAsked && !call.mayRepeat) {
      const text = `the tab that was asked for ${call.name} is gone: it may have been done or not`
      call.fail(new ClientError('OUTCOME_UNKNOWN', text))
      return
    }
    if (lead) {
      call.expectSometime()
      // A lead that was lost in the middle may fail for just that; the next is asked.
      const release = call.mayRepeat ? undefined : this.#hold()
      void call.runOn(lead.client, () => this.#lead === lead).then(release ?? (() => this.#share()))
    } else {
      this.#calls.startWaiting(call)
      if (this.#leader === undefined) return
      const { id, name, args, wasAsked } = call
      this.#post(call, {
        type: 'call',
        id,
        leader: this.#leader,
        method: name,
        args: [...args],
        again: wasAsked,
      })
    }
    call.wasAsked = true
  }

  #post(call: WaitingCall, message: TabMessage): void {
    try {
      this.#channel.post(message)
    } catch (cause) {
      call.fail(new ClientError('INVALID_ARGUMENT', 'a parameter cannot be copied to another tab', { cause }))
    }
  }

  /** Runs what another tab asks for. */
  async #serve({ id, leader, method, args, again }: Extract<TabMessage, { type: 'call' }>): Promise<void> {
    const lead = this.#lead
    if (!lead || leader !== lead.id) return
    this.#channel.post({ type: 'taken', id })
    const release = lead.mustEnd(method, args) ? this.#hold() : undefined
    try {
      const answer = await lead.runCarried(method, args, again)
      this.#channel.post({ type: 'answer', id, answer })
    } catch (thrown) {
      // Else it failed for the end of this lead, perhaps, and is asked of the next.
      if (this.#lead === lead) {
        const error = carryError(asClientError(thrown, 'STORE_FAILED'))
        this.#channel.post({ type: 'failure', id, error })
      }
    }
    if (release) release()
    else this.#share()
  }

  /** An event of the client that runs here: for this tab and all others. */
  #tell<N extends ClientEventName>(name: N, event: ClientEvents[N]): void {
    // Parts of the state, and told as that.
    if (name === 'network_state' || name === 'lock_state' || name === 'identity_changed') return this.#share()
    this.#channel.post({ type: 'event', name, event: carryEvent(event) })
    this.voice.emit(name, event)
  }

  /** Tells the state to every tab if it has changed. */
  #share(): void {
    if (this.#lead && !isSameState(this.#lead.state, this.voice.state)) this.#announce(this.#lead)
  }

  #announce({ id, state }: Lead): void {
    this.#channel.post({ type: 'leading', leader: id, state })
    this.voice.setState(state)
  }

  /** Ends this tab's part for good. */
  #end(reason: ClientError): void {
    if (this.#ended) return
    this.#ended = reason
    this.#unwatch()
    // Closed in an orderly way, the store is: the next tab finds everything written.
    const stopped = this.#dropLead()
    this.#isHere = false
    this.#channel.close()
    this.#stopping = stopped.finally(() => this.#lock.leave())
    this.#ready.reject(reason)
    this.#calls.failAll(reason)
    for (const waiting of this.#wantLead) waiting.reject(reason)
    this.voice.setNetworkState('disconnected')
    if (reason.code !== 'CLOSED') this.voice.emit('error', reason)
    this.voice.emitter.end()
  }

  #newId(): string {
    return randomUuid(this.#options.platform.random)
  }
}

function isSameState(a: TabState, b: TabState): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function unheard(message: never): never {
  throw new TypeError(`unknown message ${JSON.stringify(message)}`)
}
