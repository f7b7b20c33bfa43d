// Checks the address of clients, as far as this machine can tell: where its name leads, and who answers.
import { lookup } from 'node:dns/promises'
import * as v from 'valibot'
import { operatorSocketOf } from '../listener/operator-socket.ts'
import { bareHost } from '../operations/bare-host.ts'
import { publicAddress } from '../operations/public-url.ts'
import { request } from '../payments/providers/bounded-request.ts'
import { isPublicAddress } from '../push/public-addresses.ts'
import { runningBy } from '../succession/succession.ts'
import { version } from '../version.ts'
import { type Finding, findingsOf, reasonOf } from './finding.ts'
import type { Patient } from './patient.ts'

const MOST_BYTES = 65_536
const Health = v.pipe(v.string(), v.parseJson(), v.object({ status: v.literal('ok'), version: v.string() }))

export async function checkAddress({ config: { publicUrl, dataDir } }: Patient): Promise<readonly Finding[]> {
  const { ok, unused, warning, failed } = findingsOf('address')
  if (!publicUrl) return [unused('PUBLIC_URL is empty, so only this machine can log in')]
  const address = publicAddress(publicUrl)
  const host = bareHost(publicUrl.hostname)
  let addresses: string[]
  try {
    addresses = (await lookup(host, { all: true })).map(({ address }) => address)
  } catch (error) {
    return [
      failed(
        `no address of ${host} can be found (${reasonOf(error)})`,
        'let its DNS record name this machine',
      ),
    ]
  }
  const problem = await problemAt(address)
  if (problem !== undefined) {
    const isRunning = (await runningBy(operatorSocketOf(dataDir))) !== undefined
    return [
      isRunning
        ? failed(`${address}/health: ${problem}`, 'check PUBLIC_URL, the proxy, the firewall and the port')
        : warning(`${address}/health: ${problem}`, 'start the relay, then run this again'),
    ]
  }
  const closed = addresses.filter((address) => !isPublicAddress(address))
  if (closed.length > 0)
    return [
      warning(
        `the relay answers, but ${host} leads to ${closed[0]}, which is not on the internet`,
        'ignore this in a closed network',
      ),
    ]
  return [ok(`${address} leads to ${addresses.join(', ')}, and a relay answers there`)]
}

/** Why no relay can be used there; undefined if one answers. */
async function problemAt(address: string): Promise<string | undefined> {
  const asked = { method: 'GET', headers: {}, mostBytes: MOST_BYTES } as const
  try {
    const { status, text } = await request(`${address}/health`, asked)
    const health = v.safeParse(Health, text)
    if (!health.success) return `something else answers there (HTTP ${status})`
    return health.output.version === version
      ? undefined
      : `a relay of version ${health.output.version} answers, and this is ${version}`
  } catch (error) {
    return reasonOf(error)
  }
}
