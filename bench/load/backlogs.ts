// Clients that receive their whole backlog again and again. They confirm nothing, so the messages stay
// stored.
import type { WireAccount } from '@sotto/relay/testing/wire'
import { type Contender, measureWork } from '../contest.ts'
import type { MeasuredServer } from '../server-process.ts'
import { RawSocket } from './raw-socket.ts'

const MESSAGE = Buffer.from('{"type":"msg"')
const END = Buffer.from('{"type":"sync_end"')

/** All accounts receive their backlogs at the same time, then all of them again. One unit is one message. */
export function backlogs(name: string, server: MeasuredServer, accounts: readonly WireAccount[]): Contender {
  return {
    name,
    measure: (seconds) =>
      measureWork(server.pid, async () => {
        const end = performance.now() + seconds * 1000
        let count = 0
        while (performance.now() < end)
          for (const received of await Promise.all(accounts.map(receiveBacklog))) count += received
        return count
      }),
    close: () => server.stop(),
  }
}

/** Connects, and counts the messages until the end of the backlog. */
async function receiveBacklog(account: WireAccount): Promise<number> {
  let count = 0
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const url = `${account.base}/ws?user_uuid=${account.uuid}&token=${account.token}`
  const socket = await RawSocket.open(url, (bytes, start) => {
    if (bytes.compare(MESSAGE, 0, MESSAGE.length, start, start + MESSAGE.length) === 0) count += 1
    else if (bytes.compare(END, 0, END.length, start, start + END.length) === 0) end()
  })
  await ended
  socket.close()
  return count
}
