// sotto doctor: looks at everything that a relay with these settings needs. It changes no data.
import { type Config, ConfigError, readConfig, unknownSettings } from '../config.ts'
import { systemClock } from '../operations/clock.ts'
import { createLog } from '../operations/log.ts'
import { systemRandom } from '../operations/random.ts'
import { VanityRules, VanityRulesError } from '../vanity/vanity.ts'
import { checkAddress } from './address.ts'
import { checkBus } from './bus.ts'
import { checkServedCertificate } from './certificate.ts'
import { checkClock } from './clock.ts'
import { checkDatabase, openStore } from './database.ts'
import { checkDisks } from './disk.ts'
import { type CheckName, type Finding, findingsOf, reasonOf } from './finding.ts'
import { checkNodes } from './nodes.ts'
import type { DoctorParts, Patient } from './patient.ts'
import { checkPayments } from './payments.ts'
import { checkPush } from './push.ts'
import { checkTurn } from './turn.ts'

type Environment = Readonly<Record<string, string | undefined>>

const CHECKS: readonly [CheckName, (patient: Patient) => Promise<readonly Finding[]>][] = [
  ['clock', checkClock],
  ['disk', checkDisks],
  ['database', checkDatabase],
  ['bus', checkBus],
  ['nodes', checkNodes],
  ['certificate', checkServedCertificate],
  ['address', checkAddress],
  ['turn', checkTurn],
  ['push', checkPush],
  ['payments', checkPayments],
]

/**
 * Looks at all that a relay with these settings needs. A relay may run meanwhile.
 * @returns what was found, in the order of {@link CheckName}; only the configuration if that is wrong
 */
export async function examine(
  environment: Environment,
  parts: DoctorParts = { clock: systemClock, randomBytes: systemRandom },
): Promise<Finding[]> {
  const { config, findings } = readSettings(environment, parts)
  if (!config) return findings
  const { storage, finding: opening } = await openStore(config)
  try {
    const found = await Promise.all(
      CHECKS.map(([name, check]) =>
        check({ ...parts, config, storage, opening }).catch((error) => [
          findingsOf(name).failed(`this could not be checked: ${reasonOf(error)}`, 'report this message'),
        ]),
      ),
    )
    return [...findings, ...found.flat()]
  } finally {
    await storage?.close()
  }
}

function readSettings(
  environment: Environment,
  parts: DoctorParts,
): { config: Config | undefined; findings: Finding[] } {
  const { ok, warning, failed } = findingsOf('configuration')
  try {
    const config = readConfig(environment)
    new VanityRules(config.vanityRules, { ...parts, log: createLog('silent') })
    const unknown = unknownSettings(environment).map(({ name, nearest }) =>
      warning(`${name} is not a setting`, `if ${nearest} is meant, correct the name`),
    )
    return { config, findings: unknown.length > 0 ? unknown : [ok('the settings can be used')] }
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof VanityRulesError)) throw error
    const reason = error instanceof VanityRulesError ? `VANITY_RULES: ${error.message}` : error.message
    return { config: undefined, findings: [failed(reason, 'correct it, then run this again for the rest')] }
  }
}
