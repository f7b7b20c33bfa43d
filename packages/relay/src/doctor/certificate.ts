// Checks the certificate of the relay's own TLS.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPair } from '../certificates/acme-certificate.ts'
import { type CertificatePair, checkCertificate, validityOf } from '../certificates/certificate-pair.ts'
import { keptPemOf } from '../certificates/kept-pem.ts'
import { bareHost } from '../operations/bare-host.ts'
import { type Finding, findingsOf, reasonOf } from './finding.ts'
import type { Patient } from './patient.ts'

const DAY_MS = 86_400_000
/** A renewal that is this late has failed several times. */
const SOON = 1 / 6

export async function checkServedCertificate({
  config,
  clock,
  storage,
}: Patient): Promise<readonly Finding[]> {
  const { unused, warning, failed } = findingsOf('certificate')
  const { files, acme } = config.certificates
  if (files) {
    const replace = 'replace the files of TLS_CERT and TLS_KEY'
    try {
      const pair = { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') }
      checkCertificate(pair, config.publicUrl && bareHost(config.publicUrl.hostname))
      return [endOf(pair, clock.now(), replace)]
    } catch (error) {
      return [failed(`it cannot be served: ${reasonOf(error)}`, replace)]
    }
  }
  if (acme) {
    if (!storage) return [unused('it is not looked for without the store')]
    const pair = await readPair(acme, keptPemOf(join(config.dataDir, 'certificates'), storage))
    const look = 'look for certificate_failed in the log; ports 80 and 443 must be reachable from outside'
    if (pair) return [endOf(pair, clock.now(), look)]
    return [
      warning(
        `there is none for ${acme.host} by the server of ACME_DIRECTORY yet`,
        `start the relay, which gets it; if it does not, ${look}`,
      ),
    ]
  }
  return [unused('the relay speaks no TLS itself; a proxy must')]
}

function endOf(pair: CertificatePair, now: number, advice: string): Finding {
  const { ok, warning, failed } = findingsOf('certificate')
  const { fromMs, toMs } = validityOf(pair)
  const end = new Date(toMs).toISOString()
  if (now < fromMs) return failed('it is not valid yet', 'set the clock right')
  if (now >= toMs) return failed(`it ended ${end}, so clients refuse it`, advice)
  const days = Math.floor((toMs - now) / DAY_MS)
  if (toMs - now < (toMs - fromMs) * SOON) return warning(`it ends in ${days} days, ${end}`, advice)
  return ok(`it ends in ${days} days, ${end}`)
}
