// The operator's commands about chains: why payments wait, and to read a chain again.
import * as v from 'valibot'
import { type OperatorCommand, OperatorRefusal, operatorCommand } from '../listener/operator-command.ts'
import type { Storage } from '../storage/storage.ts'
import { type ChainOverview, listChains, requestRescan } from './chain-store.ts'

const Height = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** A chain that is read, as lists show it. */
export const ChainLine = v.object({
  /** `evm:1` */
  chain: v.string(),
  /** The newest block that was read. */
  height: v.number(),
  /** The block up to which enough endpoints agree. */
  agreed_height: v.number(),
  /** Why payments wait; null if nothing is wrong. */
  trouble: v.nullable(v.picklist(['stopped', 'disagree', 'few'])),
  /** The hosts of the endpoints concerned, with spaces between them. */
  trouble_hosts: v.string(),
  trouble_since: v.nullable(v.string()),
  /** The block from which the chain will be read again; null if that is not pending. */
  rescan_from: v.nullable(v.number()),
})
/** See {@link ChainLine}. */
export type ChainLine = v.InferOutput<typeof ChainLine>

/** The schema of each command's answer. */
export const chainAnswers = { 'chains.list': v.array(ChainLine), 'chains.rescan': ChainLine } as const

/** The commands, by name. */
export function chainCommands({
  storage,
}: {
  storage: Storage
}): Readonly<Record<keyof typeof chainAnswers, OperatorCommand>> {
  return {
    /** Lists the chains that were ever read. */
    'chains.list': operatorCommand(v.object({}), async () => (await listChains(storage)).map(lineOf)),

    /**
     * Has a chain read again from a block, in the next round of the relay. Known payments stay as they are.
     * This also ends a stop.
     */
    'chains.rescan': operatorCommand(
      v.object({ from: Height, chain: v.optional(v.pipe(v.string(), v.maxLength(64))) }),
      async ({ from, chain }): Promise<ChainLine> => {
        const found = chosen(await listChains(storage), chain)
        const { scope, position } = found
        // The blocks in between would never be read.
        if (from > position.height + 1)
          throw new OperatorRefusal(`${scope} was read up to block ${position.height} only`)
        await storage.transaction((sql) => requestRescan(sql, scope, from))
        return lineOf({ ...found, rescanFrom: from })
      },
    ),
  }
}

function chosen(all: readonly ChainOverview[], name: string | undefined): ChainOverview {
  const chains = all.filter(({ scope }) => scope.startsWith('evm:'))
  const scopes = chains.map(({ scope }) => scope).join(', ')
  if (chains.length === 0) throw new OperatorRefusal('no chain was read yet that can be read again')
  if (name === undefined && chains.length > 1)
    throw new OperatorRefusal(`there are several chains, so name one: ${scopes}`)
  const [found] = chains.filter(({ scope }) => name === undefined || [scope, scope.slice(4)].includes(name))
  if (!found) throw new OperatorRefusal(`there is no such chain; there is ${scopes}`)
  return found
}

function lineOf(chain: ChainOverview): ChainLine {
  const { scope, position, agreed, trouble, troubleHosts, troubleSince, rescanFrom } = chain
  return {
    ...{ chain: scope, height: position.height, agreed_height: agreed.height },
    ...{ trouble: trouble ?? null, trouble_hosts: troubleHosts },
    trouble_since: troubleSince === undefined ? null : new Date(troubleSince).toISOString(),
    rescan_from: rescanFrom ?? null,
  }
}
