// Checks the STUN and TURN servers: an allocation at each TURN server, with credentials as clients get them.
import { iceConfig } from '../calls/ice.ts'
import { type Finding, findingsOf } from './finding.ts'
import type { Patient } from './patient.ts'
import { allocate, bind } from './stun.ts'
import { StunFailure, stunServerOf } from './stun-link.ts'

export async function checkTurn(patient: Patient): Promise<readonly Finding[]> {
  const { unused } = findingsOf('turn')
  const { stunUrls, turnUrls } = patient.config.iceServers
  if (turnUrls.length === 0 && stunUrls.length === 0)
    return [unused('there are no servers for calls (TURN_URLS), so many calls cannot connect')]
  return await Promise.all([...turnUrls, ...stunUrls].map((url) => checkServer(url, patient)))
}

async function checkServer(url: string, { config, clock, randomBytes }: Patient): Promise<Finding> {
  const { ok, unused, failed } = findingsOf('turn')
  const server = stunServerOf(url)
  if (!server) return unused(`${url}: DTLS cannot be checked`)
  try {
    if (url.startsWith('stun'))
      return ok(`${url}: it sees this machine as ${await bind(server, randomBytes)}`)
    const { ice_servers } = iceConfig(config.iceServers, 'relay', { clock, randomBytes })
    const [{ username = '', credential = '' } = {}] = ice_servers
    return ok(`${url}: it gave the address ${await allocate(server, { username, credential }, randomBytes)}`)
  } catch (error) {
    if (error instanceof StunFailure) return failed(`${url}: ${error.message}`, error.advice)
    throw error
  }
}
