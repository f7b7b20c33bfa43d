// sotto orders chains, and sotto orders rescan: the chains that payments are read from.
import type { ChainLine } from '@sotto/relay'
import { type CommandGroup, type Flags, neededFlag, textFlag, UsageError } from './command.ts'
import { jsonOf } from './orders-command-text.ts'
import { atRelay, environmentOf } from './relay-environment.ts'
import { sanitizeLine } from './sanitize.ts'

const commonFlags = { json: { type: 'boolean' }, 'data-dir': { type: 'string' } } as const

const WHY: Readonly<Record<NonNullable<ChainLine['trouble']>, string>> = {
  stopped:
    'STOPPED: it is no longer the chain that was read; see "When a chain stops" in docs/operations/payments.md',
  disagree: 'payments wait: endpoints contradict each other',
  few: 'payments wait: too few endpoints can be asked',
}

/** The actions about chains. */
export const chainActions: CommandGroup['actions'] = [
  {
    name: 'chains',
    options: commonFlags,
    run: async (flags) => {
      const chains = await atRelay((relay) => relay.tellRelay(environmentOf(flags), 'chains.list', {}))
      const text = chains.length === 0 ? 'No chain was read yet.' : chains.map(chainText).join('\n')
      return print(flags, chains, text)
    },
  },
  {
    name: 'rescan',
    options: { ...commonFlags, from: { type: 'string' }, chain: { type: 'string' } },
    run: async (flags) => {
      const from = blockOf(neededFlag(flags, 'from', 'the first block to read'))
      const chain = textFlag(flags, 'chain')
      const input = { from, ...(chain === undefined ? {} : { chain }) }
      const line = await atRelay((relay) => relay.tellRelay(environmentOf(flags), 'chains.rescan', input))
      return print(flags, line, `${sanitizeLine(line.chain)} will be read again from block ${from}.`)
    },
  },
]

/** Says on standard error why payments of a chain wait, if they do. */
export async function warnOfChains(flags: Flags): Promise<void> {
  const chains = await atRelay((relay) => relay.tellRelay(environmentOf(flags), 'chains.list', {}))
  for (const chain of chains) if (chain.trouble) process.stderr.write(`${chainText(chain)}\n`)
}

function chainText(line: ChainLine): string {
  const { chain, height, agreed_height, trouble, trouble_hosts, trouble_since, rescan_from } = line
  const agreed = agreed_height < height ? `, endpoints agree up to ${agreed_height}` : ''
  const why = trouble ? `; ${WHY[trouble]} (${trouble_hosts}), since ${trouble_since}` : ''
  const again = rescan_from === null ? '' : `; will be read again from block ${rescan_from}`
  return sanitizeLine(`${chain}: read up to block ${height}${agreed}${why}${again}`, 600)
}

function blockOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`--from takes the number of a block, not "${text}"`)
}

function print(flags: Flags, answer: unknown, text: string): number {
  process.stdout.write(`${flags.json ? jsonOf(answer) : text}\n`)
  return 0
}
