// The host of a URL as DNS and certificates know it.

/** A host name without the brackets that IPv6 addresses have in URLs. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}
