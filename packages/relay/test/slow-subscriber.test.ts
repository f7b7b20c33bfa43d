// Subscribers that do not read are disconnected: one limit is for each subscriber, another for all together.
// All other subscribers receive every post meanwhile.
import { describe, expect, test } from 'bun:test'
import { eventually } from './payment-watch.ts'
import { RawSocket } from './raw.ts'
import { useRelay } from './use-relay.ts'
import { type WireAccount, wireAccount } from './wire.ts'

const content = 'x'.repeat(60_000)

async function subscribed(url: string, channel: string): Promise<WireAccount> {
  const account = await wireAccount(url)
  await account.bare('POST', `/channels/${channel}/subscribe`)
  return account
}

async function deafReader(account: WireAccount): Promise<RawSocket> {
  const deaf = await RawSocket.open(account)
  deaf.socket.pause()
  return deaf
}

async function postAll(owner: WireAccount, channel: string, posts: number): Promise<void> {
  for (let n = 0; n < posts; n++) {
    const made = await owner.post(`/channels/${channel}/posts`, { content, type: `n${n}` })
    expect(made.status).toBe(200)
  }
}

const names = (posts: readonly { post_type: string }[]): string[] => posts.map(({ post_type }) => post_type)
const expected = (posts: number): string[] => Array.from({ length: posts }, (_, n) => `n${n}`)

describe('one subscriber that does not read', () => {
  const relay = useRelay({
    LIMIT_OUTBOUND_BYTES: '262144',
    LIMIT_WINDOW_BYTES: '65536',
    LIMIT_FRAME_BYTES: '131072',
  })
  const POSTS = 400

  test('is disconnected, and other subscribers receive every post', async () => {
    const owner = await wireAccount(relay.url)
    const { body } = await owner.post('/channels', { name: 'Loud' })
    const [slow, quick] = [
      await subscribed(relay.url, body.channel_id),
      await subscribed(relay.url, body.channel_id),
    ]
    const deaf = await deafReader(slow)
    const { socket } = await quick.online()
    await socket.untilPong()
    await postAll(owner, body.channel_id, POSTS)
    expect(names(await socket.take(POSTS, 'channel_post'))).toEqual(expected(POSTS))
    deaf.socket.resume()
    await deaf.ended
    // It reconnects and reads the posts it missed.
    const { socket: again } = await slow.online()
    const page = await slow.get(`/channels/${body.channel_id}/posts?limit=5`)
    const found = page.body.map(({ type }: { type: string }) => type)
    expect(found).toEqual(['n399', 'n398', 'n397', 'n396', 'n395'])
    await again.close()
  })
})

describe('many subscribers that do not read', () => {
  const MIB = 1024 * 1024
  const DEAF = 24
  const POSTS = 150
  // Each of them alone may leave 16 MiB unread.
  const relay = useRelay({ LIMIT_UNREAD_BYTES: String(32 * MIB) })

  test('together use no more of the relay’s memory than allowed, and other subscribers receive every post', async () => {
    const owner = await wireAccount(relay.url)
    const { body } = await owner.post('/channels', { name: 'Loud' })
    const deaf: RawSocket[] = []
    for (let n = 0; n < DEAF; n++) deaf.push(await deafReader(await subscribed(relay.url, body.channel_id)))
    const { socket } = await (await subscribed(relay.url, body.channel_id)).online()
    await socket.untilPong()
    const before = await residentBytes(relay.process.pid)
    await postAll(owner, body.channel_id, POSTS)
    expect(names(await socket.take(POSTS, 'channel_post'))).toEqual(expected(POSTS))
    // Without the limit it would be 24 times 8.6 MB.
    expect((await residentBytes(relay.process.pid)) - before).toBeLessThan(120 * MIB)
    for (const each of deaf) each.socket.resume()
    // Each reads the bytes in transit before it sees that it was disconnected.
    await eventually(() => expect(deaf.filter(({ isEnded }) => isEnded).length).toBeGreaterThan(DEAF / 4))
    for (const each of deaf) each.socket.destroy()
    await socket.close()
  }, 120_000)
})

async function residentBytes(pid: number): Promise<number> {
  const [, resident] = (await Bun.file(`/proc/${pid}/statm`).text()).split(' ')
  return Number(resident) * 4096
}
