// What the calls of one tab need of the client, and of the calls of other tabs.
import type { AliasId } from '@sotto/protocol'
import { type AnyClient, hostPart, moduleAccessOf } from '../module-access.ts'
import type { HostedPart, PartTabs } from '../module-part.ts'
import { type Clock, randomUuid, SerialQueue } from '../platform/platform.ts'
import type { CallRecord } from '../stores/stores.ts'
import {
  adoptCall,
  type CallPart,
  callPart,
  hangUpCall,
  iceServers,
  joinCalls,
  logCallOf,
  mediaKey,
  mediaSecrets,
  reportCall,
  sendSignal,
  sidesOf,
} from './call-part.ts'
import { holdPresence } from './call-presence.ts'
import {
  type CarriedCall,
  callReported,
  type HeldCall,
  type IceServers,
  isOver,
  type OutgoingSignal,
} from './carried-calls.ts'

/** Reports what the other tabs do. */
export interface CallLineListener {
  /** Another tab has a call, or its call has changed. */
  onElsewhere(call: CarriedCall): void
  /** This tab leaves the others. */
  onLeaving(): void
  onError(error: unknown): void
}

/** The calls' connection to the part next to the store. */
export class CallLine {
  readonly part: HostedPart<CallPart>
  readonly clock: Clock
  /** The latest call of another tab. */
  elsewhere: HeldCall | undefined
  readonly #client: AnyClient
  readonly #tab: string
  readonly #listener: CallLineListener
  /** Reports are sent in order; holding a call's lock takes a moment. */
  readonly #reports = new SerialQueue()
  #isLeaving = false
  #isClosed = false
  #own: CarriedCall | undefined
  #presence: { readonly callId: string; readonly release: () => void } | undefined

  constructor(client: AnyClient, listener: CallLineListener) {
    const { clock, random } = moduleAccessOf(client).platform
    this.#client = client
    this.#listener = listener
    this.#tab = randomUuid(random)
    this.clock = clock
    this.part = hostPart(client, callPart)
    if (this.part.tabs) this.#joinTabs(this.part.tabs)
  }

  get isConnected(): boolean {
    return this.#client.networkState === 'connected'
  }

  newId(): string {
    return randomUuid(moduleAccessOf(this.#client).platform.random)
  }

  get ownAlias(): AliasId | undefined {
    return this.#client.identity?.aliasId
  }

  /** See `CallPart.sidesOf`. */
  sidesOf(contact: string): ReturnType<CallPart['sidesOf']> {
    return this.part.call(sidesOf, [contact])
  }

  /** See `CallPart.send`. */
  send(signal: OutgoingSignal): Promise<boolean> {
    return this.part.call(sendSignal, [this.#tab, signal])
  }

  /** See `CallPart.mediaKey`. */
  mediaKey(input: Parameters<CallPart['mediaKey']>[0]): Promise<Uint8Array> {
    return this.part.call(mediaKey, [input])
  }

  /** See `CallPart.mediaSecrets`. */
  mediaSecrets(...args: Parameters<CallPart['mediaSecrets']>): ReturnType<CallPart['mediaSecrets']> {
    return this.part.call(mediaSecrets, args)
  }

  /** See `CallPart.iceServers`. */
  iceServers(relayOnly: boolean): Promise<IceServers> {
    return this.part.call(iceServers, [relayOnly])
  }

  /** Whether a signal for this tab, or for all of them, arrived. */
  isForThisTab(tab: string | undefined): boolean {
    return tab === undefined || tab === this.#tab
  }

  /** Takes a call for this tab. Returns false if another tab has one. */
  claim(call: CarriedCall): Promise<boolean> {
    return this.#reports.run(() => this.#report(call))
  }

  /** Tells the other tabs how this tab's call is. */
  report(call: CarriedCall): void {
    this.#own = call
    // A ringing call belongs to no tab yet.
    if (!this.part.tabs || this.#isLeaving || call.state === 'ringing') return
    this.#reports.run(() => this.#report(call)).catch((error: unknown) => this.#listener.onError(error))
  }

  /** See `CallPart.log`. */
  log(record: CallRecord): void {
    this.part.call(logCallOf, [this.#tab, record]).catch((error: unknown) => this.#listener.onError(error))
  }

  /** Hears of no other tab any more. Reports of this tab's last call are still sent. */
  close(): void {
    this.#isClosed = true
  }

  /** Asks the tab that has the call to hang up. */
  hangUpElsewhere(callId: string): void {
    this.part.call(hangUpCall, [callId]).catch((error: unknown) => this.#listener.onError(error))
  }

  async #report(call: CarriedCall): Promise<boolean> {
    if (!this.part.tabs) return true
    const { id: callId, state } = call
    const before = this.#presence
    if (!isOver(state) && before?.callId !== callId)
      this.#presence = { callId, release: await holdPresence(this.#tab, callId) }
    const isTaken = await this.part.call(reportCall, [this.#tab, call])
    // Not before the report: the part would take the earlier call for lost.
    if (before !== this.#presence) before?.release()
    if ((!isTaken || isOver(state)) && this.#presence?.callId === callId) this.#leave()
    return isTaken
  }

  #leave(): void {
    this.#presence?.release()
    this.#presence = undefined
  }

  #joinTabs(tabs: PartTabs): void {
    const take = (held: HeldCall): void => {
      if (held.tab === this.#tab || this.#isClosed) return
      this.elsewhere = held
      this.#listener.onElsewhere(held.call)
    }
    this.part.on(callReported, take)
    const ask = (): void => {
      this.part.call(joinCalls, [this.#tab]).then(
        (held) => held && take(held),
        (error: unknown) => this.#listener.onError(error),
      )
    }
    ask()
    tabs.onTakeover(() => this.#tellNewLeader())
    tabs.onLeaving(() => {
      if (this.#isClosed) return this.#leave()
      // The others learn it from the lock.
      this.#isLeaving = true
      this.#listener.onLeaving()
      this.#isLeaving = false
      this.#leave()
    })
  }

  /** The part in the new leader tab knows of no call. */
  #tellNewLeader(): void {
    if (this.#isClosed) return
    const { elsewhere } = this
    if (this.#own && this.#presence?.callId === this.#own.id) this.report(this.#own)
    else if (elsewhere && !isOver(elsewhere.call.state))
      this.part.call(adoptCall, [elsewhere]).catch((error: unknown) => this.#listener.onError(error))
  }
}
