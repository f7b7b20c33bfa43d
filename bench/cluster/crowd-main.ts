// A process of the load: many clients that stay connected to nodes. `crowd.ts` starts it and tells it what to
// do.
import { inParallel } from '../load/accounts.ts'
import type { CrowdAnswer, CrowdOrder } from './crowd.ts'
import { CrowdMember } from './crowd-member.ts'

/** How many connect at the same time, when nothing is measured. */
const AT_ONCE = 250
const POST = Buffer.from('{"type":"channel_post"')

let nodes: readonly string[] = []
let next = 0
const failures = new Map<string, number>()
const postsAt: number[] = []
const members: CrowdMember[] = []

process.on('message', (order: CrowdOrder) => {
  void carryOut(order).then((answer) => process.send?.(answer))
})

async function carryOut(order: CrowdOrder): Promise<CrowdAnswer> {
  switch (order.kind) {
    case 'connect':
      nodes = order.nodes
      for (const member of order.members) members.push(new CrowdMember(member, parts))
      await inParallel(members, AT_ONCE, (member) => member.online())
      return { kind: 'done' }
    case 'await storm': {
      nodes = order.nodes
      failures.clear()
      const backAt: number[] = []
      await Promise.all(
        members.map(async (member) => {
          await member.lost()
          await member.back()
          backAt.push(Date.now())
        }),
      )
      return { kind: 'back', backAt, failures: Object.fromEntries(failures) }
    }
    case 'await post': {
      // The first may have come before this order.
      while (postsAt.length < members.length) await Bun.sleep(20)
      return { kind: 'posts', postsAt: postsAt.splice(0) }
    }
    case 'stop':
      for (const member of members) member.stop()
      return { kind: 'done' }
    default:
      return order satisfies never
  }
}

const parts = {
  nodeOf: () => nodes[next++ % nodes.length] ?? '',
  failed: (reason: string) => {
    failures.set(reason, (failures.get(reason) ?? 0) + 1)
  },
  onFrame: (bytes: Buffer, start: number) => {
    if (bytes.compare(POST, 0, POST.length, start, start + POST.length) === 0)
      postsAt.push(performance.timeOrigin + performance.now())
  },
}
