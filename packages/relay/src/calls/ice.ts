// Lists the STUN and TURN servers for calls, with TURN credentials that expire.
import { createHmac } from 'node:crypto'
import type { IceConfig } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import type { IceServers } from './ice-settings.ts'

/**
 * The servers that a client needs to connect a call. TURN credentials follow the convention known as the TURN
 * REST API (draft-uberti-behave-turn-rest): the user name begins with its expiry in seconds, and the password
 * is the HMAC-SHA1 of the user name under the secret that the relay shares with the TURN servers.
 */
export function iceConfig(
  { stunUrls, turnUrls, turnSecret, ttlSeconds }: IceServers,
  mode: string | undefined,
  parts: { clock: Clock; randomBytes: RandomBytes },
): IceConfig {
  const isRelayed = mode === 'relay'
  const stun = isRelayed || stunUrls.length === 0 ? [] : [{ urls: [...stunUrls] }]
  const until = Math.floor(parts.clock.now() / 1000) + ttlSeconds
  // The user name is random and does not name the account, so that a TURN server's log does not tell who
  // calls whom.
  const username = `${until}:${randomText(parts.randomBytes, 9)}`
  const credential = createHmac('sha1', turnSecret).update(username).digest('base64')
  const turn = turnUrls.length === 0 ? [] : [{ urls: [...turnUrls], username, credential }]
  return {
    ttl: ttlSeconds,
    ice_transport_policy: isRelayed ? 'relay' : 'all',
    ice_servers: [...stun, ...turn],
  }
}
