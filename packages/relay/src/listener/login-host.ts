// Decides which host the login challenges of a request are bound to. Without a bound host, a false relay
// could pass the challenges of a genuine one on to its clients, and log in with their signatures.
import { isIP } from 'node:net'
import { ProtocolError } from '@sotto/protocol'
import { bareHost } from '../operations/bare-host.ts'

/** The host of a relay's logins: always this one, the loopback name that a request uses, or any name. */
export type LoginHost = { readonly always: string } | 'loopback' | 'any'

/**
 * @param named the host that the request names, in lower case; undefined if its Host header is not valid
 * @throws ProtocolError `HOST_UNKNOWN` if the relay takes no logins under this name
 */
export function loginHostOf(named: string | undefined, rule: LoginHost): string {
  if (typeof rule === 'object') return rule.always
  const isTaken = named !== undefined && (rule === 'any' || isLoopback(withoutPort(named)))
  if (!isTaken) throw new ProtocolError('HOST_UNKNOWN')
  return named
}

/** Whether a name or an address without a port always means the machine itself. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase()
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))
}

function withoutPort(host: string): string {
  return bareHost(host.replace(/:\d{1,5}$/, ''))
}
