// A subscriber that does not read is sent away; whoever else is subscribed hears every post meanwhile.
import { expect, test } from 'bun:test'
import { RawSocket } from './raw.ts'
import { useRelay } from './use-relay.ts'
import { wireAccount } from './wire.ts'

const relay = useRelay({
  LIMIT_OUTBOUND_BYTES: '262144',
  LIMIT_WINDOW_BYTES: '65536',
  LIMIT_FRAME_BYTES: '131072',
})
const POSTS = 400

test('a slow subscriber hurts nobody else', async () => {
  const [owner, slow, quick] = [
    await wireAccount(relay.url),
    await wireAccount(relay.url),
    await wireAccount(relay.url),
  ]
  const { body } = await owner.post('/channels', { name: 'Loud' })
  for (const reader of [slow, quick]) await reader.bare('POST', `/channels/${body.channel_id}/subscribe`)
  const deaf = await RawSocket.open(slow)
  const { socket } = await quick.online()
  await socket.untilPong()
  deaf.socket.pause()
  const content = 'x'.repeat(60_000)
  for (let n = 0; n < POSTS; n++) {
    const made = await owner.post(`/channels/${body.channel_id}/posts`, { content, type: `n${n}` })
    expect(made.status).toBe(200)
  }
  const heard = await socket.take(POSTS, 'channel_post')
  expect(heard.map(({ post_type }) => post_type)).toEqual(Array.from({ length: POSTS }, (_, n) => `n${n}`))
  deaf.socket.resume()
  await deaf.ended
  // It comes back, and finds what it missed.
  const { socket: again } = await slow.online()
  const page = await slow.get(`/channels/${body.channel_id}/posts?limit=5`)
  const found = page.body.map(({ type }: { type: string }) => type)
  expect(found).toEqual(['n399', 'n398', 'n397', 'n396', 'n395'])
  await again.close()
})
