// Many clients in processes of their own, because one process may have only so many connections open.
import { join } from 'node:path'
import { readDescriptorLimit } from '../../packages/relay/src/operations/descriptors.ts'

import type { Member } from './population.ts'

/** What a process of the crowd is told. It answers each order once. */
export type CrowdOrder =
  | { readonly kind: 'connect'; readonly members: readonly Member[]; readonly nodes: readonly string[] }
  /** They lose their connections and come back to these nodes. */
  | { readonly kind: 'await storm'; readonly nodes: readonly string[] }
  | { readonly kind: 'await post' }
  | { readonly kind: 'stop' }

/** What it answers. Times are in ms since 1970. */
export type CrowdAnswer =
  | { readonly kind: 'done' }
  | {
      readonly kind: 'back'
      readonly backAt: readonly number[]
      readonly failures: Readonly<Record<string, number>>
    }
  | { readonly kind: 'posts'; readonly postsAt: readonly number[] }

type AnswerOf<Kind extends CrowdAnswer['kind']> = Extract<CrowdAnswer, { kind: Kind }>

/** Clients that are connected. */
export interface Crowd {
  /** Resolves when all have lost their connections and are back at these nodes. */
  storm(nodes: readonly string[]): Promise<{ backAt: number[]; failures: Record<string, number> }>
  /** Resolves with the times at which each got the next post. */
  post(): Promise<number[]>
  stop(): Promise<void>
}

/** Starts clients and connects them to nodes in turn. */
export async function startCrowd(members: readonly Member[], nodes: readonly string[]): Promise<Crowd> {
  const each = Math.floor(readDescriptorLimit() * 0.9)
  const count = Math.max(2, Math.ceil(members.length / each))
  const share = Math.ceil(members.length / count)
  const processes = Array.from({ length: count }, (_, index) => ({
    ask: startProcess(),
    members: members.slice(index * share, (index + 1) * share),
  }))
  const askAll = async <Kind extends CrowdAnswer['kind']>(
    kind: Kind,
    orderFor: (members: readonly Member[]) => CrowdOrder,
  ): Promise<AnswerOf<Kind>[]> => {
    const answers = await Promise.all(processes.map(({ ask, members }) => ask(orderFor(members))))
    return answers.filter((answer): answer is AnswerOf<Kind> => answer.kind === kind)
  }
  await askAll('done', (members) => ({ kind: 'connect', members, nodes }))
  return {
    storm: async (others) => {
      const answers = await askAll('back', () => ({ kind: 'await storm', nodes: others }))
      const failures: Record<string, number> = {}
      for (const answer of answers)
        for (const [reason, times] of Object.entries(answer.failures))
          failures[reason] = (failures[reason] ?? 0) + times
      return { backAt: answers.flatMap(({ backAt }) => backAt), failures }
    },
    post: async () =>
      (await askAll('posts', () => ({ kind: 'await post' }))).flatMap(({ postsAt }) => postsAt),
    stop: async () => {
      await askAll('done', () => ({ kind: 'stop' }))
      for (const { ask } of processes) ask.end()
    },
  }
}

function startProcess() {
  const answers: ((answer: CrowdAnswer) => void)[] = []
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'crowd-main.ts')], {
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    ipc: (answer: CrowdAnswer) => answers.shift()?.(answer),
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const ask = (order: CrowdOrder): Promise<CrowdAnswer> =>
    new Promise((resolve) => {
      answers.push(resolve)
      child.send(order)
    })
  return Object.assign(ask, { end: () => child.kill() })
}
