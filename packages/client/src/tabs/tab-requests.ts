// The requests between tabs: this tab's own, sent to the leader, and those of others, which the leader runs.
import type { SottoClient } from '../client.ts'
import { asClientError, ClientError } from '../client-error.ts'
import type { Clock } from '../platform/platform.ts'
import type { AnyTabMethod, TabMethod } from '../tab-method.ts'
import { carryError } from './carried-error.ts'
import type { Leader } from './leader.ts'
import type { TabMessage } from './tab-channel.ts'
import { isOfModule } from './tab-parts.ts'
import { TabRequest, type WaitingRequest } from './tab-request.ts'
import { WaitingRequests } from './waiting-requests.ts'

type Request = Extract<TabMessage, { type: 'request' }>
type Reply = Extract<TabMessage, { type: 'taken' | 'missing' | 'answer' | 'failure' }>

/** What the requests need of their tab. */
export interface RequestSurroundings {
  readonly clock: Clock
  newId(): string
  /** The leader, if it is this tab. */
  leader(): Leader | undefined
  /** The id of the leader, if this tab knows one. */
  leaderId(): string | undefined
  /** Makes this tab the leader. */
  becomeLeader(): Promise<unknown>
  /** Keeps this tab the leader until the returned function is called. */
  hold(): () => void
  post(message: TabMessage): void
  findMethod(name: string): AnyTabMethod<SottoClient> | undefined
  /** Lets the application make the objects of modules that it loads by need. */
  loadModules(): Promise<void>
  /** A method has ended, so the client's state may have changed. */
  onEnded(): void
}

/** The requests of one tab. */
export class TabRequests {
  readonly #tab: RequestSurroundings
  readonly #waiting = new WaitingRequests()

  constructor(tab: RequestSurroundings) {
    this.#tab = tab
  }

  /** Requests a method from the leader. */
  ask<A extends readonly unknown[], R>(method: TabMethod<SottoClient, A, R>, args: A): Promise<R> {
    const request = new TabRequest(this.#tab.newId(), method, args, this.#tab.clock)
    this.#waiting.add(request)
    this.#dispatch(request)
    return request.answer
  }

  /** Sends the unanswered requests to a new leader. */
  dispatchAll(): void {
    for (const request of this.#waiting.waiting()) this.#dispatch(request)
  }

  restartTimeouts(): void {
    this.#waiting.restartTimeouts()
  }

  /** Processes another tab's reply. It may be a reply to a third tab; it is ignored then. */
  receive(reply: Reply): void {
    if (reply.type === 'missing') this.#takeOver(reply.id)
    else this.#waiting.receive(reply)
  }

  failAll(error: ClientError): void {
    this.#waiting.failAll(error)
  }

  /** Runs a method that another tab requests, if this tab is the leader. */
  async runForTab({ id, leader: leaderId, method: name, args, again }: Request): Promise<void> {
    const tab = this.#tab
    const leader = tab.leader()
    if (!leader || leaderId !== leader.id) return
    let method = tab.findMethod(name)
    if (!method && isOfModule(name)) {
      await tab.loadModules()
      // The next leader has been asked meanwhile.
      if (tab.leader() !== leader) return
      method = tab.findMethod(name)
      if (!method) return tab.post({ type: 'missing', id })
    }
    tab.post({ type: 'taken', id })
    const release = method?.mayRepeat(args) === false ? tab.hold() : undefined
    try {
      if (!method) throw new ClientError('INVALID_ARGUMENT', `tabs have no method ${name}`)
      const answer = await method.runCarried(leader.client, args, again)
      tab.post({ type: 'answer', id, answer })
    } catch (thrown) {
      // A failure after this tab stopped leading is not sent: that may be its cause, and the next leader is
      // asked.
      if (tab.leader() === leader) {
        const error = carryError(asClientError(thrown, 'STORE_FAILED'))
        tab.post({ type: 'failure', id, error })
      }
    }
    if (release) release()
    else tab.onEnded()
  }

  /** The leader's tab does not have the module, so this tab runs the client from now on. */
  #takeOver(id: string): void {
    const request = this.#waiting.find(id)
    if (!request) return
    request.wasAsked = false
    request.cancelTimeout()
    this.#tab.becomeLeader().catch((error: unknown) => request.fail(asClientError(error, 'NO_ANSWER')))
  }

  /** Sends a request to the leader. Without a leader it waits for the next one. */
  #dispatch(request: WaitingRequest): void {
    const tab = this.#tab
    const leader = tab.leader()
    if (request.wasAsked && !request.mayRepeat) {
      const text = `the tab that was asked for ${request.name} is gone: it may or may not have been done`
      request.fail(new ClientError('OUTCOME_UNKNOWN', text))
      return
    }
    if (leader) {
      request.cancelTimeout()
      // A failure after this tab stopped leading is ignored: that may be its cause, and the next leader is
      // asked.
      const release = request.mayRepeat ? undefined : tab.hold()
      void request.runOn(leader.client, () => tab.leader() === leader).then(release ?? (() => tab.onEnded()))
    } else {
      this.#waiting.startTimeout(request)
      const leaderId = tab.leaderId()
      if (leaderId === undefined) return
      const { id, name, args, wasAsked } = request
      this.#post(request, {
        type: 'request',
        id,
        leader: leaderId,
        method: name,
        args: [...args],
        again: wasAsked,
      })
    }
    request.wasAsked = true
  }

  #post(request: WaitingRequest, message: TabMessage): void {
    try {
      this.#tab.post(message)
    } catch (cause) {
      request.fail(
        new ClientError('INVALID_ARGUMENT', 'a parameter cannot be copied to another tab', { cause }),
      )
    }
  }
}
