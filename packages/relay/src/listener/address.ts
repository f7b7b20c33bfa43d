// Finds the address that rates by address count: an IPv4 address, or the /64 of an IPv6 address.
import { isIP } from 'node:net'

/**
 * @param peer the address of the TCP connection
 * @param forwarded the X-Forwarded-For header; only its last `trustedProxies` entries are trusted
 */
export function clientAddress(peer: string, forwarded: string | null, trustedProxies: number): string {
  const chain = forwarded && trustedProxies > 0 ? forwarded.split(',').map((entry) => entry.trim()) : []
  const claimed = chain.at(-trustedProxies) ?? chain.at(0)
  return groupOf(claimed && isIP(claimed) ? claimed : peer)
}

function groupOf(address: string): string {
  const mapped = /^::ffff:(?<v4>\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.groups?.v4) return mapped.groups.v4
  if (!address.includes(':')) return address
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  const network = [...left, ...zeros, ...right]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}
