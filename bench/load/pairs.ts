// Pairs that write to each other: each sender has a friend, each friend confirms what it gets.
import { befriend, WireAccount } from '@sotto/relay/testing/wire'
import { RawSocket } from './raw-socket.ts'

/** One direction of one conversation. */
export interface Pair {
  readonly from: RawSocket
  readonly to: RawSocket
  readonly fromAlias: string
  readonly toAlias: string
  readonly conv: string
}

/** Pairs of friends on a relay, connected, their backlogs through. */
export async function relayPairs(url: string, count: number): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (let index = 0; index < count; index++) {
    const [from, to] = [new WireAccount(url), new WireAccount(url)]
    for (const account of [from, to]) {
      await account.register()
      await account.login()
    }
    const conv = await befriend(from, to)
    pairs.push({
      from: await connect(from),
      to: await connect(to),
      fromAlias: from.alias,
      toAlias: to.alias,
      conv,
    })
  }
  return pairs
}

/** The same on the floor, which knows no accounts: whoever connects is there. */
export async function floorPairs(url: string, count: number): Promise<Pair[]> {
  const open = (name: string): Promise<RawSocket> => RawSocket.open(`${url}/ws?user_uuid=${name}`)
  return await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const [fromAlias, toAlias] = [`u1000${1000 + index}`, `u2000${1000 + index}`]
      return {
        from: await open(fromAlias),
        to: await open(toAlias),
        fromAlias,
        toAlias,
        conv: crypto.randomUUID(),
      }
    }),
  )
}

/** Opens an account's WebSocket and waits until its backlog is through. */
export async function connect(account: WireAccount): Promise<RawSocket> {
  let ready = (): void => undefined
  const through = new Promise<void>((resolve) => {
    ready = resolve
  })
  const socket = await RawSocket.open(
    `${account.base}/ws?user_uuid=${account.uuid}&token=${account.token}`,
    (bytes, start, end) => {
      if (bytes.toString('latin1', start, Math.min(end, start + 18)).startsWith('{"type":"sync_end"')) ready()
    },
  )
  await through
  return socket
}

export function closePairs(pairs: readonly Pair[]): void {
  for (const { from, to } of pairs) {
    from.close()
    to.close()
  }
}
