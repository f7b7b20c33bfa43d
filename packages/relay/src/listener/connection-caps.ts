// Works out how many connections are allowed, from the settings and from the process's descriptor limit.
import type { Limits } from '@sotto/protocol'

/** How many connections are allowed. */
export interface ConnectionCaps {
  /** Open connections of the port, and requests under way and WebSockets together. */
  readonly total: number
  /** The same without a login. The rest is kept back for those who are logged in. */
  readonly withoutLogin: number
  /** Requests under way and WebSockets of one address. */
  readonly address: number
  /** Descriptors of the whole process, above which connections without a request are closed. */
  readonly descriptors: number
}

/** Descriptors kept for files, the database, the media store and push services: a quarter, at most these. */
const MOST_RESERVED = 1024

export function connectionCapsOf(
  limits: Pick<Limits, 'connections' | 'addressConnections'>,
  descriptorLimit: number,
): ConnectionCaps {
  const reserved = Math.min(MOST_RESERVED, Math.ceil(descriptorLimit / 4))
  const possible = Math.max(1, descriptorLimit - reserved)
  const total = limits.connections === 0 ? possible : Math.min(limits.connections, possible)
  return {
    total,
    withoutLogin: Math.ceil((total * 7) / 8),
    address: limits.addressConnections === 0 ? Math.ceil(total / 4) : limits.addressConnections,
    descriptors: descriptorLimit - Math.ceil(reserved / 2),
  }
}
