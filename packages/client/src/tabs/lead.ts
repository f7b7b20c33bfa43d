// The lead: the tab that holds the lock runs the client, and this is its client.
import { type ClientOptions, SottoClient } from '../client.ts'
import { ClientError } from '../client-error.ts'
import type { ClientEventName, ClientEvents } from '../events.ts'
import { publicPart } from '../stores/records.ts'
import type { ClientStore } from '../stores/store.ts'
import { eventNames } from './events.ts'
import { findMethod } from './methods.ts'
import type { TabState } from './tab-channel.ts'

/** Hears every event of the client. */
export type LeadListener = <N extends ClientEventName>(name: N, event: ClientEvents[N]) => void

/** The client that all tabs share, in the tab that runs it. */
export class Lead {
  /** New with every lead, so that what was asked of one is never taken for asked of another. */
  readonly id: string
  readonly client: SottoClient
  readonly #store: ClientStore

  private constructor(id: string, client: SottoClient, store: ClientStore) {
    this.id = id
    this.client = client
    this.#store = store
  }

  /** @throws ClientError what `SottoClient.open` throws. */
  static async open(id: string, options: ClientOptions, listener: LeadListener): Promise<Lead> {
    const client = await openOrClose(options)
    const forward = <N extends ClientEventName>(name: N): void => {
      client.on(name, (event) => listener(name, event))
    }
    for (const name of eventNames) forward(name)
    return new Lead(id, client, options.store)
  }

  /** What every tab is told. */
  get state(): TabState {
    const { identity, networkState, isLocked, isSealed } = this.client
    if (!identity) return { networkState, isLocked, isSealed }
    return { identity: publicPart(identity), networkState, isLocked, isSealed }
  }

  /** Whether a call must be brought to its end here, since it cannot be made again elsewhere. */
  mustEnd(name: string, args: readonly unknown[]): boolean {
    return findMethod(name)?.mayRepeat(args) === false
  }

  /** Runs a method another tab asks for. */
  async runCarried(name: string, args: readonly unknown[], again: boolean): Promise<unknown> {
    const method = findMethod(name)
    if (!method) throw new ClientError('INVALID_ARGUMENT', `no tab can be asked for ${name}`)
    return method.runCarried(this.client, args, again)
  }

  /** Ends the client and closes its store. The connection ends at once. */
  stop(): Promise<void> {
    return this.client.close()
  }

  /** Ends the client, and writes nothing more that has not been begun: another tab is about to. */
  async abandon(): Promise<void> {
    await Promise.all([this.#store.abandon(), this.client.close()])
  }
}

async function openOrClose(options: ClientOptions): Promise<SottoClient> {
  try {
    return await SottoClient.open(options)
  } catch (error) {
    // Nobody else has it, and an open store can keep a newer version of the app from its own.
    await options.store.close()
    throw error
  }
}
