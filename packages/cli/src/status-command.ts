// sotto status: the figures of the relay on this machine, once or again and again.
import type { Status } from '@sotto/relay'
import { type Command, CommandError } from './command.ts'
import { jsonOf } from './orders-command-text.ts'
import { atRelay, environmentOf } from './relay-environment.ts'
import { sanitizeLine } from './sanitize.ts'
import { writeOut } from './write-out.ts'

const EVERY_MS = 2000
/** Moves the cursor to the top of the terminal and clears what is below it. */
const CLEAR = '\u001b[H\u001b[J'
const LONGEST = 300
const DAY_SECONDS = 86_400

export const statusCommand: Command = {
  name: 'status',
  summary: 'show the relay’s figures: connections, messages, space, payments, certificate',
  help: `Usage: sotto status [--watch] [--json] [--data-dir D]

Shows what the relay on this machine is doing, and the other nodes that share its PostgreSQL.
It talks to a running relay through a socket in its data folder, which only the relay's user
can open. If no relay runs, it shows what the store contains.

  --watch         show it again every two seconds, until Ctrl-C
  --json          print JSON; with --watch, one line each time
  --data-dir D    the relay's data folder (default: DATA_DIR, otherwise ./data)

If no relay runs on this machine and DATABASE_URL is set, the command uses that database.`,
  options: { watch: { type: 'boolean' }, json: { type: 'boolean' }, 'data-dir': { type: 'string' } },
  run: async (flags) => {
    const read = (): Promise<Status> =>
      atRelay((relay) => relay.tellRelay(environmentOf(flags), 'status', {}))
    if (!flags.watch) {
      const status = await read()
      process.stdout.write(`${flags.json ? jsonOf(status) : statusText(status, Date.now())}\n`)
      return 0
    }
    for (let isFirst = true; ; isFirst = false) {
      const status = await read().catch((error) => {
        // A relay that is just stopping may not answer.
        if (isFirst || !(error instanceof CommandError)) throw error
        process.stderr.write(`sotto: ${error.message}\n`)
        return undefined
      })
      if (status) {
        const text = flags.json ? JSON.stringify(status) : `${statusText(status, Date.now())}\n`
        await writeOut(`${process.stdout.isTTY ? CLEAR : ''}${text}\n`)
      }
      await Bun.sleep(EVERY_MS)
    }
  },
}

/** The figures as lines for a terminal. @param now milliseconds since 1970 */
function statusText(status: Status, now: number): string {
  const { version, relay, accounts, messages, pushes_waiting, database, media, orders_pending } = status
  const { waiting, bytes } = messages
  const title = relay
    ? `Sotto ${version}, running for ${durationOf(relay.uptime_seconds)}`
    : 'No relay runs on this data folder. Its store contains:'
  const state = relay && relay.storage !== 'ok' ? `${STORAGE[relay.storage]}; ` : ''
  const reusable = database.reusable_bytes > 0 ? `, ${bytesOf(database.reusable_bytes)} of it unused` : ''
  const troubles = relay?.payment_troubles ?? []
  const lines: [string, string][] = [
    ...status.nodes.map((node) => row('Node', nodeText(node, relay?.node))),
    ...(relay || status.nodes.length > 0 ? [row('Connections', connectionsText(status))] : []),
    ...(relay ? [row('Memory', bytesOf(relay.memory_bytes))] : []),
    row('Accounts', countOf(accounts)),
    row(
      'Messages',
      `${countOf(waiting)} waiting${waiting > 0 ? ` for ${countOf(messages.accounts)} accounts, ${bytesOf(bytes)}` : ''}`,
    ),
    row('Pushes', `${countOf(pushes_waiting)} to send`),
    row(
      'Database',
      `${state}${database.engine}, ${bytesOf(database.bytes)}${reusable}${diskText(database.disk)}`,
    ),
    row('Media', `${countOf(media.blobs)} blobs, ${bytesOf(media.bytes)}${diskText(media.disk)}`),
    row('Reports', `${countOf(status.reports_open)} open`),
    row('Payments', [...troubles, `${countOf(orders_pending)} orders pending`].join('; ')),
    ...(relay?.certificate_ends_at ? [row('Certificate', endText(relay.certificate_ends_at, now))] : []),
    ...(status.is_expiry_stopped
      ? [row('Expiry', 'STOPPED: the clock jumped; correct it, then run sotto resume-expiry')]
      : []),
  ]
  return [title, ...lines.map(([name, text]) => `${name.padEnd(11)}  ${sanitizeLine(text, LONGEST)}`)].join(
    '\n',
  )
}

const STORAGE = {
  short: 'SHORT OF SPACE, media and registrations are refused',
  full: 'FULL, nothing new is taken',
} as const

function nodeText(node: Status['nodes'][number], own: string | undefined): string {
  return [
    node.place,
    node.version,
    NODE_STATES[node.state](node),
    ...(node.state === 'silent' ? [] : [`${countOf(node.connections)} connections`]),
    ...(node.state !== 'silent' && node.bus === 'silent' ? ['BUS SILENT'] : []),
    ...(node.node === own ? ['this one'] : []),
  ].join(', ')
}

const NODE_STATES = {
  alive: () => 'alive',
  draining: () => 'DRAINING',
  silent: ({ silent_seconds }: Status['nodes'][number]) => `SILENT for ${durationOf(silent_seconds)}`,
} as const

function connectionsText({ connections, relay, nodes }: Status): string {
  const here = relay && nodes.length > 1 ? `, ${countOf(relay.connections)} of them at this node` : ''
  return `${countOf(connections)}${here}`
}

function row(name: string, text: string): [string, string] {
  return [name, text]
}

function endText(end: string, now: number): string {
  const days = Math.floor((Date.parse(end) - now) / 1000 / DAY_SECONDS)
  return days < 0 ? `EXPIRED ${end}` : `until ${end}, ${days} days`
}

function diskText(disk: Status['database']['disk']): string {
  return disk ? `; ${bytesOf(disk.free_bytes)} of ${bytesOf(disk.total_bytes)} free` : ''
}

function countOf(count: number): string {
  return count.toLocaleString('en')
}

/** Bytes with a unit: `1.5 GiB`. */
function bytesOf(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  const at = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10))
  const amount = bytes / 1024 ** at
  return `${at === 0 ? amount : amount.toFixed(1)} ${units[at]}`
}

function durationOf(seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / DAY_SECONDS),
    Math.floor((seconds / 3600) % 24),
    Math.floor((seconds / 60) % 60),
  ]
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${seconds % 60} s`
}
