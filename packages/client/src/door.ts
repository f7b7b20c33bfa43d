// How modules reach the relay through a client, whether it runs here or in another tab: channels, the shop.
import type { OutgoingContent } from '@sotto/crypto'
import type { Endpoint } from '@sotto/protocol'
import { ClientError } from './client-error.ts'
import type { Device } from './device.ts'
import type { Emitter } from './events.ts'
import type { MediaPass } from './media/pass.ts'
import type { Platform } from './options.ts'
import type { SendOptions } from './outbox.ts'
import {
  type CallInput,
  type CallReply,
  checkInput,
  type RelayRequest,
  readReply,
  requestOf,
} from './relay-request.ts'
import type { PublicIdentity, StoredMessage } from './stores/records.ts'

/** What a module can be made of: a `SottoClient` or, in browsers, a `SharedClient`. */
export interface AnyClient {
  /** See `SottoClient.identity`. */
  readonly identity: PublicIdentity | undefined
  /** See `SottoClient.isLocked`. */
  readonly isLocked: boolean
  /** See `SottoClient.syncIdentity`. */
  syncIdentity(): Promise<{ readonly aliasId: string }>
  /** See `SottoClient.send`. */
  send(contact: string, content: OutgoingContent, options?: SendOptions): Promise<StoredMessage>
}

/** Where the client runs in another tab, or may. */
export interface TabDoor {
  readonly platform: Omit<Platform, 'store'>
  readonly emitter: Emitter
  /** Makes a request in the name of a client's account, and answers what the relay answered. */
  request(request: RelayRequest): Promise<string>
  /** See `passThrough`. */
  askMediaPass(contact: string, deadToken: string | undefined): Promise<MediaPass>
}

/** What modules reach a client by: the device itself, where the client runs here. */
export type Door = Pick<Device, 'platform' | 'emitter' | 'request' | 'needEngine'> | TabDoor

// Beside the clients, not in them: a client has no methods but those for applications, and a module that nobody imports
// is in nobody's bundle.
const doors = new WeakMap<AnyClient, Door>()

/** Lets modules through. */
export function giveDoor(client: AnyClient, door: Door): void {
  doors.set(client, door)
}

/** The door of a client. @throws ClientError `INVALID_ARGUMENT` for what was not opened as a client */
export function doorOf(client: AnyClient): Door {
  const door = doors.get(client)
  if (!door) throw new ClientError('INVALID_ARGUMENT', 'this is no client that was opened here')
  return door
}

/** Calls an endpoint through a client. @throws ClientError what `Http.call` throws, and `NO_IDENTITY`, `LOCKED`, `CLOSED` */
export async function callThrough<E extends Endpoint>(
  client: AnyClient,
  endpoint: E,
  input: CallInput<E>,
): Promise<CallReply<E>> {
  const door = doorOf(client)
  checkInput(endpoint, input)
  return readReply(endpoint, await door.request(requestOf(endpoint, input)))
}
