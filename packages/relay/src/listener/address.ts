// Finds the address that rates by address count: an IPv4 address, or the /64 of an IPv6 address.
import { isIP } from 'node:net'

/** A network that many addresses belong to, and how many times the rate of one address it may use. */
interface Network {
  readonly name: string
  readonly times: number
}

// A home or a rented server has a /64, a site or a tunnel a /48, a provider a /32. An attacker gets the
// larger ones almost for free, so each rate bounds them too. Many honest people share them, so they may use
// several times as much.
const WIDER_NETWORKS = [
  { bits: 32, times: 256 },
  { bits: 48, times: 16 },
] as const

/**
 * @param peer the address of the TCP connection
 * @param forwarded the X-Forwarded-For header; only its last `trustedProxies` entries are trusted
 * @param onMissing called if our proxies report no address, so that the peer's own is used
 */
export function clientAddress(
  peer: string,
  forwarded: string | null,
  trustedProxies: number,
  onMissing?: () => void,
): string {
  if (trustedProxies === 0) return groupOf(peer)
  const reported = reportedAddress(forwarded ?? '', trustedProxies)
  if (reported === undefined) onMissing?.()
  return groupOf(reported ?? peer)
}

/** The wider networks of an address that `clientAddress` returned, the widest first. IPv4 has none. */
export function widerNetworksOf(address: string): Network[] {
  const groups = address.endsWith('::/64') ? address.slice(0, -'::/64'.length).split(':') : undefined
  if (!groups) return []
  return WIDER_NETWORKS.map(({ bits, times }) => ({
    name: `${groups.slice(0, bits / 16).join(':')}::/${bits}`,
    times,
  }))
}

function reportedAddress(forwarded: string, trustedProxies: number): string | undefined {
  const chain = forwarded.split(',')
  return addressIn((chain.at(-trustedProxies) ?? chain[0] ?? '').trim())
}

// Some proxies append the client's port: 192.0.2.1:443, [2001:db8::1]:443.
function addressIn(entry: string): string | undefined {
  if (isIP(entry)) return entry
  const { bracketed, plain } =
    /^(?:\[(?<bracketed>[^\]]*)\]|(?<plain>[^[\]]*?))(?::\d{1,5})?$/.exec(entry)?.groups ?? {}
  const address = bracketed ?? plain ?? ''
  return isIP(address) ? address : undefined
}

function groupOf(address: string): string {
  const whole = wholeAddress(address)
  return whole.includes(':') ? `${whole.split(':').slice(0, 4).join(':')}::/64` : whole
}

/** IPv6 networks whose last 32 bits are an IPv4 address. */
const NETWORKS_WITH_IPV4 = [
  '0:0:0:0:0:ffff', // Mapped: the system reports an IPv4 connection to an IPv6 socket in this way.
  '64:ff9b:0:0:0:0', // NAT64 with the well-known prefix (RFC 6052).
]

/** A valid address, always written in the same way. An IPv4 address is the same if it is written as IPv6. */
export function wholeAddress(address: string): string {
  if (!address.includes(':')) return address
  const groups = groupsOf(address)
  const words = groups.map((group) => group.toString(16))
  if (NETWORKS_WITH_IPV4.includes(words.slice(0, 6).join(':')))
    return groups.slice(6).flatMap(bytesOf).join('.')
  return words.join(':')
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(address: string): number[] {
  const plain = (address.split('%')[0] ?? '').replace(/\d+\.\d+\.\d+\.\d+$/, asGroups)
  const [left = [], right] = plain.split('::').map((side) => (side === '' ? [] : side.split(':')))
  const zeros = right ? Array.from({ length: 8 - left.length - right.length }, () => '0') : []
  return [...left, ...zeros, ...(right ?? [])].map((group) => Number.parseInt(group, 16))
}

function asGroups(v4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = v4.split('.').map(Number)
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

function bytesOf(group: number): [number, number] {
  return [group >> 8, group & 0xff]
}
