// The rows of channels and of their sale.
import { expect } from 'bun:test'
import type { channelEndpoints } from '@sotto/protocol'
import type { Answer } from '../wire.ts'
import { type Case, changesOwners, type EndpointRow, ownOnly, reads } from './endpoint-matrix.ts'
import type { Things, World } from './world.ts'

const ofOwner = {
  about: 'the owner’s channel',
  prepare: (world: World) => world.newChannel(),
  ask: ({ things }) => ({ params: { id: things.channel } }),
} as const satisfies Partial<Case>

const onlyOwner = { others: 'NOT_CHANNEL_OWNER', owner: changesOwners } as const

/** Posts of the owner, asked for through a channel of the caller. */
const throughOwn: Pick<Case, 'about' | 'own'> = {
  about: 'a post of the owner, through the caller’s own channel',
  own: ({ account }, world) => world.newChannel(account),
}

async function newSale(world: World): Promise<Pick<Things, 'channel' | 'channelName' | 'post'>> {
  const made = await world.newChannel()
  await world.owner.post('/vanity/list-channel', { channel_id: made.channel, price_usdt: 40 })
  return made
}

const hasRole =
  (role: string | undefined) =>
  ({ body }: Answer): void =>
    expect(body.role).toBe(role)

export const channelRows = {
  searchChannels: [
    {
      about: 'the name of a channel that is not public',
      ask: ({ things }) => ({ query: { q: things.channelName } }),
      gets: { others: { ...reads, reply: ({ body }) => expect(body).toEqual([]) } },
    },
    {
      about: 'the name of a public channel',
      prepare: (world) => world.newChannel(world.owner, { is_public: true }),
      ask: ({ things }) => ({ query: { q: things.channelName } }),
      gets: {
        others: {
          ...reads,
          shows: ['channel'],
          reply: ({ body }, { channel }) => expect(body).toMatchObject([{ id: channel }]),
        },
      },
    },
  ],
  myChannels: [{ about: 'its channels', ask: () => ({}), gets: { others: reads } }],
  createChannel: [
    {
      about: 'a channel of its own, with the owner’s names in the body',
      ask: ({ things }) => ({
        body: { name: 'mine', id: things.channel, owner_id: 1, alias_id: things.alias },
      }),
      gets: { others: ownOnly, owner: changesOwners },
    },
  ],
  // The unguessable id is the permission to read.
  getChannel: [
    {
      ...ofOwner,
      gets: {
        others: { ...reads, shows: ['channelName'], reply: hasRole(undefined) },
        owner: { ...reads, reply: hasRole('owner') },
      },
    },
  ],
  patchChannel: [
    {
      ...ofOwner,
      ask: ({ things }) => ({
        params: { id: things.channel },
        body: { name: 'taken over', is_public: true },
      }),
      gets: onlyOwner,
    },
  ],
  deleteChannel: [{ ...ofOwner, gets: onlyOwner }],
  subscribe: [
    {
      ...ofOwner,
      gets: {
        others: { changes: ['channels', 'channel_subscriptions', 'channel_words'], seen: false },
        owner: changesOwners,
      },
    },
  ],
  unsubscribe: [
    {
      about: 'the owner’s channel, which another account is subscribed to',
      prepare: async (world) => {
        const made = await world.newChannel()
        await world.friend.bare('POST', `/channels/${made.channel}/subscribe`)
        return made
      },
      ask: ({ things }) => ({ params: { id: things.channel } }),
      gets: { others: reads },
    },
    {
      about: 'the owner’s channel, which the caller is subscribed to',
      prepare: (world) => world.newChannel(),
      own: async ({ account }, world) => {
        const channel = await world.newChannel()
        await account.bare('POST', `/channels/${channel.channel}/subscribe`)
        return channel
      },
      ask: ({ own }) => ({ params: { id: own.channel } }),
      gets: {
        others: { changes: ['channels', 'channel_subscriptions'], seen: false },
        owner: changesOwners,
      },
    },
  ],
  listPosts: [
    {
      ...ofOwner,
      gets: {
        others: {
          ...reads,
          shows: ['post', 'postText', 'alias'],
          reply: ({ body }, { post }) => expect(body).toMatchObject([{ id: post }]),
        },
      },
    },
    {
      ...throughOwn,
      ask: ({ things, own }) => ({ params: { id: own.channel }, query: { before: things.post } }),
      gets: { others: 'NOT_FOUND' },
    },
  ],
  createPost: [
    {
      ...ofOwner,
      ask: ({ things }) => ({ params: { id: things.channel }, body: { content: 'in its name' } }),
      gets: onlyOwner,
    },
  ],
  deletePost: [
    {
      ...ofOwner,
      ask: ({ things }) => ({ params: { id: things.channel, post_id: things.post } }),
      gets: onlyOwner,
    },
    {
      ...throughOwn,
      ask: ({ things, own }) => ({ params: { id: own.channel, post_id: things.post } }),
      gets: { others: 'NOT_FOUND' },
    },
  ],
  listChannel: [
    {
      ...ofOwner,
      ask: ({ things }) => ({ body: { channel_id: things.channel, price_usdt: 1 } }),
      gets: onlyOwner,
    },
  ],
  unlistChannel: [{ ...ofOwner, prepare: newSale, gets: onlyOwner }],
  buyChannel: [
    {
      ...ofOwner,
      about: 'a channel that the owner sells',
      prepare: newSale,
      // The order names its seller.
      gets: {
        others: { changes: ['orders', 'order_destinations', 'order_events'], seen: false },
        owner: 'OWN_CHANNEL',
      },
    },
    {
      ...ofOwner,
      about: 'a channel that the owner does not sell',
      gets: { others: 'NOT_FOUND', owner: 'OWN_CHANNEL' },
    },
    {
      ...ofOwner,
      about: 'a channel that another account is buying',
      prepare: async (world) => {
        const made = await newSale(world)
        const { body } = await world.friend.bare('POST', `/channels/${made.channel}/buy`)
        return { ...made, order: body.order_id }
      },
      gets: { others: 'CHANNEL_TAKEN', owner: 'OWN_CHANNEL' },
    },
  ],
  buyQuota: [
    { about: 'a seat of its own', ask: () => ({}), gets: { others: ownOnly, owner: changesOwners } },
  ],
} as const satisfies Readonly<Record<keyof typeof channelEndpoints, EndpointRow>>
