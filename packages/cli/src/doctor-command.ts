// sotto doctor: checks what a relay with these settings needs, one line for each thing.
import type { Finding } from '@sotto/relay'
import type { Command } from './command.ts'
import { jsonOf } from './orders-command-text.ts'
import { atRelay, environmentOf } from './relay-environment.ts'
import { sanitizeLine } from './sanitize.ts'

const LONGEST = 600
const WORDS: Readonly<Record<Finding['state'], string>> = {
  ok: 'ok',
  unused: '-',
  warning: 'warning',
  failed: 'FAILED',
}

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'check settings, clock, disk, database, nodes, certificate, address, calls, push, payments',
  help: `Usage: sotto doctor [--json] [--data-dir D]

Checks what a relay with these settings needs, and says in one line for each thing what is
wrong and what to do. It changes nothing. A relay may be running. Call it with the settings
and as the user of the relay.

  --json          print JSON
  --data-dir D    the relay's data folder (default: DATA_DIR, otherwise ./data)

  configuration   every setting can be used, and no name is mistyped
  clock           it agrees with the database, never jumped, and follows a time service
  disk            there is space, this user can write, and a sync reaches a disk
  database        it can be opened, keeps what it confirms, and has the tables of this version
  bus             what nodes of one PostgreSQL tell each other arrives, and all are heard
  nodes           none is silent; versions, settings and clocks agree
  certificate     it can be served, and does not end soon
  address         the name of PUBLIC_URL can be found, and a relay answers there. From here: a
                  firewall in front of this machine cannot be seen
  turn            each server gives an address with credentials like those of clients
  push            a contact is set, push services take pushes, Firebase accepts its key
  payments        enough endpoints of each chain answer, and are up to date

The exit code is 0, or 1 if something failed. It may take ten seconds.`,
  options: { json: { type: 'boolean' }, 'data-dir': { type: 'string' } },
  run: async (flags) => {
    const findings = await atRelay((relay) => relay.examine(environmentOf(flags)))
    process.stdout.write(`${flags.json ? jsonOf(findings) : findings.map(lineOf).join('\n')}\n`)
    return findings.some(({ state }) => state === 'failed') ? 1 : 0
  },
}

function lineOf({ check, state, says, advice }: Finding): string {
  const text = advice === undefined ? says : `${says}. To do: ${advice}`
  return `${WORDS[state].padEnd(7)}  ${check.padEnd(13)}  ${sanitizeLine(text, LONGEST)}`
}
