// The servers that carry the media of calls, and credentials for them that run out by themselves.
import { createHmac } from 'node:crypto'
import type { IceConfig } from '@sotto/protocol'
import type { Clock } from '../operations/clock.ts'
import { type RandomBytes, randomText } from '../operations/random.ts'
import type { IceServers } from './ice-settings.ts'

/**
 * What a client needs to connect a call. TURN credentials follow the convention known as the TURN REST API
 * (draft-uberti-behave-turn-rest): a user name that begins with the second it ends at, and as password its HMAC-SHA1
 * under the secret the relay shares with the TURN servers.
 */
export function iceConfig(
  { stunUrls, turnUrls, turnSecret, ttlSeconds }: IceServers,
  mode: string | undefined,
  parts: { clock: Clock; randomBytes: RandomBytes },
): IceConfig {
  const isRelayed = mode === 'relay'
  const stun = isRelayed || stunUrls.length === 0 ? [] : [{ urls: [...stunUrls] }]
  const until = Math.floor(parts.clock.now() / 1000) + ttlSeconds
  // By chance, not by account: a TURN server's log should not tell who called whom.
  const username = `${until}:${randomText(parts.randomBytes, 9)}`
  const credential = createHmac('sha1', turnSecret).update(username).digest('base64')
  const turn = turnUrls.length === 0 ? [] : [{ urls: [...turnUrls], username, credential }]
  return {
    ttl: ttlSeconds,
    ice_transport_policy: isRelayed ? 'relay' : 'all',
    ice_servers: [...stun, ...turn],
  }
}
