// Pairs of connected accounts: a sender and its recipient, who are friends.
import { befriend, WireAccount } from '@sotto/relay/testing/wire'
import { RawSocket } from './raw-socket.ts'

const SYNC_END = Buffer.from('{"type":"sync_end"')

/** One direction of one conversation. */
export interface Pair {
  readonly from: RawSocket
  readonly to: RawSocket
  readonly fromAlias: string
  readonly toAlias: string
  readonly conv: string
}

/**
 * Makes pairs of friends on a relay and connects them. Resolves after the end of their backlogs.
 * @param toUrl the node of the recipients, if it is another one
 */
export async function relayPairs(url: string, count: number, toUrl = url): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (let index = 0; index < count; index++) {
    const [from, to] = [new WireAccount(url), new WireAccount(toUrl)]
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

/** Connects pairs to the floor. It has no accounts and accepts every connection. */
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

/** Opens an account's WebSocket and waits for the end of its backlog. */
export function connect(account: WireAccount): Promise<RawSocket> {
  return untilSynced(`${account.base}/ws?user_uuid=${account.uuid}&token=${account.token}`)
}

/**
 * Opens a WebSocket and waits for the end of its backlog.
 * @param headers further lines of the request, each with its end
 */
export async function untilSynced(url: string, headers = ''): Promise<RawSocket> {
  let end = (): void => undefined
  const synced = new Promise<void>((resolve) => {
    end = resolve
  })
  const onFrame = (bytes: Buffer, start: number, frameEnd: number): void => {
    if (bytes.compare(SYNC_END, 0, SYNC_END.length, start, Math.min(frameEnd, start + SYNC_END.length)) === 0)
      end()
  }
  const socket = await RawSocket.open(url, onFrame, { headers })
  await synced
  return socket
}

export function closePairs(pairs: readonly Pair[]): void {
  for (const { from, to } of pairs) {
    from.close()
    to.close()
  }
}
