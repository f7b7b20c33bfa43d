// The leader: the client in the tab that holds the lock, which runs it for all tabs.
import { type ClientOptions, SottoClient } from '../client.ts'
import type { ClientEventName, ClientEvents } from '../events/events.ts'
import type { ClientStore } from '../stores/stores.ts'
import { publicPart } from '../stores/stores.ts'
import { eventNames } from './carried-events.ts'
import type { TabState } from './tab-channel.ts'

/** Receives every event of the client. */
export type LeaderListener = <N extends ClientEventName>(name: N, event: ClientEvents[N]) => void

/** The client that all tabs share. Only the tab that runs it has one. */
export class Leader {
  /** Different for each leader, so that no leader answers a request that was sent to another. */
  readonly id: string
  readonly client: SottoClient
  readonly #store: ClientStore

  private constructor(id: string, client: SottoClient, store: ClientStore) {
    this.id = id
    this.client = client
    this.#store = store
  }

  /** @throws ClientError what `SottoClient.open` throws. */
  static async open(id: string, options: ClientOptions, listener: LeaderListener): Promise<Leader> {
    const client = await openOrClose(options)
    const forward = <N extends ClientEventName>(name: N): void => {
      client.on(name, (event) => listener(name, event))
    }
    for (const name of eventNames) forward(name)
    return new Leader(id, client, options.store)
  }

  /** The state that is sent to every tab. */
  get state(): TabState {
    const { identity, networkState, isLocked, isSealed, hasPassphrase } = this.client
    if (!identity) return { networkState, isLocked, isSealed, hasPassphrase }
    return { identity: publicPart(identity), networkState, isLocked, isSealed, hasPassphrase }
  }

  /** Ends the client and closes its store. The connection ends at once. */
  stop(): Promise<void> {
    return this.client.close()
  }

  /**
   * Ends the client and drops all writes that have not begun, because another tab is about to be the leader.
   */
  async abandon(): Promise<void> {
    await Promise.all([this.#store.abandon(), this.client.close()])
  }
}

async function openOrClose(options: ClientOptions): Promise<SottoClient> {
  try {
    return await SottoClient.open(options)
  } catch (error) {
    // Nothing else uses the store, and an open one can keep a newer version of the app from opening its own.
    await options.store.close()
    throw error
  }
}
