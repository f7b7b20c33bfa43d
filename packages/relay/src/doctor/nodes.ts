// Checks whether the nodes that share a PostgreSQL fit together: versions, settings and clocks.
import { type NodeLine, readNodes } from '../cluster/node-list.ts'
import { sharedHashes } from '../operations/settings-in-force.ts'
import { version } from '../version.ts'
import { type Finding, findingsOf } from './finding.ts'
import type { Patient } from './patient.ts'

const MOST_DIFFERENCE_MS = 10_000

export async function checkNodes({ config, storage }: Patient): Promise<readonly Finding[]> {
  const { ok, unused, warning } = findingsOf('nodes')
  if (config.databaseUrl === undefined) return [unused('a relay with the embedded database is one node')]
  if (!storage) return [unused('the database cannot be used, so no nodes work together')]
  const nodes = await readNodes(storage)
  if (nodes.length === 0) return [ok('none runs')]
  const findings = nodes.flatMap((node) => {
    if (node.state === 'silent')
      return [
        warning(
          `${node.place} has been silent for ${node.silent_seconds} s`,
          'start it again; if it is gone for good, nothing: it is forgotten after a day',
        ),
      ]
    return [
      ...clockOf(node),
      ...(node.version === version
        ? []
        : [
            warning(
              `${node.place} has version ${node.version}, and this is ${version}`,
              'replace it if no upgrade is under way',
            ),
          ]),
      ...settingsOf(node, sharedHashes(config.inForce)),
    ]
  })
  return findings.length > 0 ? findings : [ok(`${nodes.length}, of one version and with the same settings`)]
}

function clockOf({ place, clock_ahead_ms }: NodeLine): Finding[] {
  if (Math.abs(clock_ahead_ms) < MOST_DIFFERENCE_MS) return []
  const seconds = Math.round(Math.abs(clock_ahead_ms) / 1000)
  const way = clock_ahead_ms > 0 ? 'ahead of' : 'behind'
  return [
    findingsOf('nodes').warning(
      `the clock of ${place} is ${seconds} s ${way} that of PostgreSQL`,
      'let a time service keep the clocks of all machines right (timedatectl set-ntp true)',
    ),
  ]
}

// A setting that one of the two versions does not know is not compared.
function settingsOf({ place, settings }: NodeLine, own: Readonly<Record<string, string>>): Finding[] {
  const different = Object.keys(own).filter(
    (name) => settings[name] !== undefined && settings[name] !== own[name],
  )
  if (different.length === 0) return []
  return [
    findingsOf('nodes').warning(
      `${place} has other values than these settings: ${different.join(', ')}`,
      'give all nodes the same, so that answers do not depend on the node',
    ),
  ]
}
