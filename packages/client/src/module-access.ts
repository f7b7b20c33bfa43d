// Gives modules (channels, the shop, media, push, calls) access to a client that runs in this tab or another
// one.
import type { OutgoingContent } from '@sotto/crypto'
import type {
  channelEndpoints,
  inviteEndpoints,
  pushEndpoints,
  reportEndpoints,
  vanityEndpoints,
} from '@sotto/protocol'
import { ClientError } from './client-error.ts'
import { Device } from './device.ts'
import type { Emitter, NetworkState } from './events/events.ts'
import type { SendOptions } from './messages/messages.ts'
import { type HostedPart, hostHere, type ModulePart } from './module-part.ts'
import type { Platform } from './platform/platform.ts'
import type { PublicIdentity, StoredMessage } from './stores/stores.ts'
import {
  type CallInput,
  type CallReply,
  checkInput,
  type RelayRequest,
  readReply,
  requestOf,
} from './wire/wire.ts'

/** The client that a module works with: a `SottoClient` or, in browsers, a `SharedClient`. */
export interface AnyClient {
  /** See `SottoClient.identity`. */
  readonly identity: PublicIdentity | undefined
  /** See `SottoClient.isLocked`. */
  readonly isLocked: boolean
  /** See `SottoClient.networkState`. */
  readonly networkState: NetworkState
  /** See `SottoClient.syncIdentity`. */
  syncIdentity(): Promise<{ readonly aliasId: string }>
  /** See `SottoClient.send`. */
  send(contact: string, content: OutgoingContent, options?: SendOptions): Promise<StoredMessage>
}

/**
 * A conversation's key and a token of the account, for one upload or download. The receiver overwrites the
 * key after use.
 */
export interface MediaPass {
  readonly sessionKey: Uint8Array
  readonly token: string
  /**
   * Whether messages to the contact go under version 3, so that files have keys of their own.
   */
  readonly hasForwardSecrecy?: boolean | undefined
}

/** Module access to a shared client, which may run in another tab. */
export interface TabModuleAccess {
  readonly platform: Omit<Platform, 'store'>
  readonly emitter: Emitter
  /** Sends a request with the token of the client's account. Returns the relay's answer. */
  request(request: RelayRequest): Promise<string>
  /** See `mediaPassOf`. */
  askMediaPass(contact: string, deadToken: string | undefined): Promise<MediaPass>
  /** See `hostPart`. */
  host<T>(part: ModulePart<T>): HostedPart<T>
  /**
   * Runs `work` with the client in this tab, which takes over the client. If the browser freezes the tab
   * meanwhile, `work` runs again.
   */
  runHere<T>(work: (client: AnyClient) => Promise<T>): Promise<T>
}

/** Module access to a client: the device itself, if the client runs in this tab. */
export type ModuleAccess = Device | TabModuleAccess

// A map beside the clients keeps methods for modules out of the application's API, and modules that an
// application does not import out of its bundle.
const accesses = new WeakMap<AnyClient, ModuleAccess>()

/** Lets modules use a client through `access`. */
export function grantModuleAccess(client: AnyClient, access: ModuleAccess): void {
  accesses.set(client, access)
}

/**
 * The module access of a client. @throws ClientError `INVALID_ARGUMENT` if `client` was not opened as a
 * client
 */
export function moduleAccessOf(client: AnyClient): ModuleAccess {
  const access = accesses.get(client)
  if (!access) throw new ClientError('INVALID_ARGUMENT', 'not a client that was opened here')
  return access
}

/**
 * Hosts a module's part, which runs next to the store. With a `SharedClient` that is the tab that runs the
 * client. If that tab has not hosted the part, and its application does not make the module then
 * (`SharedClient.loadModulesWith`), the first call makes the calling tab take over the client. A module hosts
 * its part in its constructor.
 */
export function hostPart<T>(client: AnyClient, part: ModulePart<T>): HostedPart<T> {
  const access = moduleAccessOf(client)
  return access instanceof Device ? hostHere(access, part) : access.host(part)
}

/** The device of a client that runs in this tab. */
export function deviceOf(client: AnyClient): Device {
  const access = moduleAccessOf(client)
  if (access instanceof Device) return access
  throw new ClientError('INVALID_ARGUMENT', 'the client may run in another tab')
}

/**
 * Does work on the device in this tab. A tab of a `SharedClient` takes over the client for it.
 * @throws ClientError `NO_ANSWER` if another tab took over before the work was done
 */
export function onDevice<T>(client: AnyClient, work: (device: Device) => Promise<T>): Promise<T> {
  const access = moduleAccessOf(client)
  if (access instanceof Device) return work(access)
  let hasBegun = false
  return access.runHere(async (inThisTab) => {
    if (hasBegun) throw new ClientError('NO_ANSWER', 'another tab took over the client meanwhile')
    hasBegun = true
    return work(deviceOf(inThisTab))
  })
}

/**
 * The endpoints that modules call with what an application passes. The build removes the schemas of input of
 * accounts and friends (`scripts/client-package/lean-protocol.ts`), so `checkInput` cannot check theirs.
 */
type ModuleTables = typeof channelEndpoints &
  typeof inviteEndpoints &
  typeof pushEndpoints &
  typeof reportEndpoints &
  typeof vanityEndpoints
type ModuleEndpoint = ModuleTables[keyof ModuleTables]

/**
 * Calls an endpoint through a client. @throws ClientError as `Http.call` does, and `NO_IDENTITY`, `LOCKED`,
 * `CLOSED`
 */
export async function requestThrough<E extends ModuleEndpoint>(
  client: AnyClient,
  endpoint: E,
  input: CallInput<E>,
): Promise<CallReply<E>> {
  const access = moduleAccessOf(client)
  checkInput(endpoint, input)
  return readReply(endpoint, await access.request(requestOf(endpoint, input)))
}
