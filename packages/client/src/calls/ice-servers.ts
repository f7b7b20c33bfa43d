// Fetches the STUN and TURN servers for a call's media from the relay.
import { callEndpoints, type IceConfig } from '@sotto/protocol'
import { ClientError } from '../client-error.ts'
import type { Device } from '../device.ts'

/** The servers, in the form that browsers use. */
export interface IceServers {
  readonly servers: readonly RTCIceServer[]
  /** Whether media must go through these servers. */
  readonly relayOnly: boolean
}

/**
 * Fetches the servers.
 * @throws ClientError `UNSUPPORTED` with `relayOnly` if the relay has no TURN server; errors of the request
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
