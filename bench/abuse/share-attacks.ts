// Attacks that use up the shares of one account: retractions, message ids, channel posts, friend requests.
import { limits } from '@sotto/protocol'
import { befriend, type WireAccount } from '@sotto/relay/testing/wire'
import type { Attack, Cast } from './attack.ts'
import type { Attacker } from './attacker.ts'
import { useUpSentIds } from './fill.ts'

const PAYLOAD = Buffer.alloc(300, 7).toString('base64')
const LARGE_POST_BYTES = 60 * 1024
const POSTS_A_PAGE = 100

/** Sends messages that are delivered at once, retracts them, and retracts twice as many that never were. */
const retractions: Attack = {
  name: 'retractions',
  strangers: 2,
  prepare: makeFriends,
  run: async (attacker) => {
    const [conv] = attacker.scene.things
    const [from, to] = [attacker.stranger(0), attacker.stranger(1)]
    const [sending, receiving] = [await attacker.socket(from), await attacker.socket(to)]
    receiving.onFrame = (bytes, start, end) => {
      const { type, seq } = JSON.parse(bytes.toString('latin1', start, end))
      if (type !== 'msg') return
      attacker.send(receiving, JSON.stringify({ type: 'delivered', conv_id: conv, seq, to: from.alias }))
    }
    await attacker.paced(attacker.allowed('message'), (index) => {
      const known = `known-${index - (index % 4)}`
      const more = { to: to.alias, conv_id: conv }
      if (index % 4 === 0) attacker.send(sending, messageTo(to.alias, conv, known))
      else if (index % 4 === 3)
        attacker.send(sending, JSON.stringify({ type: 'retract', id: known, ...more }))
      else attacker.send(sending, JSON.stringify({ type: 'retract', id: `unknown-${index}`, ...more }))
    })
  },
}

/** Uses up the ids of a day half-way through, and goes on. */
const sentIds: Attack = {
  name: 'message-ids',
  strangers: 2,
  prepare: makeFriends,
  fill: (scene) => useUpSentIds(scene, limits.sentIdsPerDay.default - 300),
  run: async (attacker) => {
    const [conv] = attacker.scene.things
    const socket = await attacker.socket(attacker.stranger(0))
    const to = attacker.stranger(1).alias
    await attacker.paced(attacker.allowed('message'), (index) => {
      attacker.send(socket, messageTo(to, conv, `id-${index}`))
    })
  },
}

const posts: Attack = {
  name: 'channel-posts',
  prepare: makeChannel,
  run: (attacker) => postAll(attacker, 400),
}

const largePosts: Attack = {
  name: 'channel-posts-60-KiB',
  prepare: makeChannel,
  run: (attacker) => postAll(attacker, LARGE_POST_BYTES),
}

/** Reads the longest pages of posts. */
const history: Attack = {
  name: 'channel-history',
  prepare: async ({ strangers: [owner] }) => {
    if (!owner) return []
    const channel = await channelOf(owner)
    const body = { content: 'x'.repeat(LARGE_POST_BYTES) }
    for (let count = 0; count < POSTS_A_PAGE; count++) await owner.post(`/channels/${channel}/posts`, body)
    return [channel]
  },
  run: async (attacker) => {
    const [channel] = attacker.scene.things
    const as = attacker.stranger()
    await attacker.paced(attacker.allowed('history'), () =>
      attacker.request('GET', `/channels/${channel}/posts?limit=${POSTS_A_PAGE}`, { as }),
    )
  },
}

const friendRequests: Attack = {
  name: 'friend-requests',
  strangers: 64,
  run: async (attacker) => {
    const as = attacker.stranger()
    await attacker.paced(attacker.allowed('friendRequest'), (index) => {
      const body = { to_alias_id: attacker.stranger(index + 1).alias }
      return attacker.request('POST', '/friends/request', { as, body })
    })
  },
}

export const shareAttacks = [retractions, sentIds, posts, largePosts, history, friendRequests]

async function makeFriends({ strangers: [one, other] }: Cast): Promise<string[]> {
  return one && other ? [await befriend(one, other)] : []
}

async function makeChannel({ strangers: [owner] }: Cast): Promise<string[]> {
  return [owner ? await channelOf(owner) : '']
}

async function channelOf(owner: WireAccount): Promise<string> {
  return (await owner.post('/channels', { name: 'Posts' })).body.channel_id
}

async function postAll(attacker: Attacker, bytes: number): Promise<void> {
  const [channel] = attacker.scene.things
  const as = attacker.stranger()
  const body = { content: 'x'.repeat(bytes) }
  await attacker.paced(attacker.allowed('post'), () =>
    attacker.request('POST', `/channels/${channel}/posts`, { as, body }),
  )
}

function messageTo(to: string, conv: string | undefined, id: string): string {
  return JSON.stringify({ type: 'msg', id, to, conv_id: conv, crypto_v: 1, payload: PAYLOAD })
}
