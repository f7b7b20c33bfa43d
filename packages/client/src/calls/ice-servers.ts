// The servers a call's media may go through, as the relay names them.
import { callEndpoints, type IceConfig } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type { Device } from '../device.ts'

/** Servers, in the form of browsers. */
export interface IceServers {
  readonly servers: readonly RTCIceServer[]
  /** Media goes through them and no other way. */
  readonly relayOnly: boolean
}

/**
 * Asks the relay for servers.
 * @throws ClientError `UNSUPPORTED` with `relayOnly` where it has none to send media through; what asking it throws
 */
export async function askIceServers(device: Device, relayOnly: boolean): Promise<IceServers> {
  const { http } = device.needEngine()
  const config = await http.call(callEndpoints.iceConfig, { query: relayOnly ? { mode: 'relay' } : {} })
  if (relayOnly && config.ice_servers.length === 0)
    throw new ClientError('UNSUPPORTED', 'the relay has no TURN server to send media through')
  return {
    servers: config.ice_servers.map(serverOf),
    relayOnly: relayOnly || config.ice_transport_policy === 'relay',
  }
}

function serverOf({ urls, username, credential }: IceConfig['ice_servers'][number]): RTCIceServer {
  return {
    urls,
    ...(username === undefined ? {} : { username }),
    ...(credential === undefined ? {} : { credential }),
  }
}
