// Decides which addresses pushes may be sent to. An attacker can choose the push endpoint: without these
// rules, anybody could make the relay send requests into its operator's own network.
import { BlockList, isIP } from 'node:net'

/**
 * Special-purpose IPv4 networks (IANA's registry): all addresses that do not belong to exactly one host on
 * the internet.
 */
const NOT_PUBLIC_V4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...[
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.31.196.0/24',
    '192.52.193.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
  ],
  ...['192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]
/**
 * The only IPv6 network that is allocated on the internet. Mapped, local, NAT64 and multicast addresses are
 * outside it.
 */
const GLOBAL_V6 = ['2000::/3']
/**
 * Exceptions within it: protocols (Teredo, ORCHID, benchmarks), documentation, and 6to4, which can contain
 * any IPv4 address.
 */
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

const notPublic = listOf([...NOT_PUBLIC_V4, ...NOT_PUBLIC_V6])
const globalV6 = listOf(GLOBAL_V6)

/** Whether the text is the IP address of one host on the internet. */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%')) return false // A zone index: a link-local address.
  const family = isIP(address)
  if (family === 4) return !notPublic.check(address, 'ipv4')
  return family === 6 && globalV6.check(address, 'ipv6') && !notPublic.check(address, 'ipv6')
}

/** Hosts (with any port) and networks that the operator allows although they are not public. */
export class AllowedHosts {
  readonly #hosts: ReadonlySet<string>
  readonly #networks: BlockList

  /** @throws TypeError whose message is the entry that is not a host, address or network */
  constructor(entries: readonly string[]) {
    const networks = entries.filter((entry) => isNetwork(entry) || isIP(entry) !== 0)
    this.#hosts = new Set(entries.filter((entry) => !networks.includes(entry)).map(hostEntry))
    this.#networks = listOf(networks)
  }

  hasHost(host: string): boolean {
    return this.#hosts.has(host) || this.hasAddress(host)
  }

  hasAddress(address: string): boolean {
    const family = isIP(address)
    return family !== 0 && this.#networks.check(address, family === 4 ? 'ipv4' : 'ipv6')
  }
}

function hostEntry(entry: string): string {
  const host = entry.toLowerCase()
  if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(host)) throw new TypeError(entry)
  return host
}

function isNetwork(entry: string): boolean {
  const [address = '', bits = '', ...rest] = entry.split('/')
  const family = isIP(address)
  const most = family === 4 ? 32 : 128
  return rest.length === 0 && family !== 0 && /^[0-9]{1,3}$/.test(bits) && Number(bits) <= most
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const type = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, type)
    else list.addSubnet(address, Number(bits), type)
  }
  return list
}
