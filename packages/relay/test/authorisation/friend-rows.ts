// The rows of friendships and blocks.
import { expect } from 'bun:test'
import type { friendEndpoints } from '@sotto/protocol'
import type { Answer } from '../wire.ts'
import { callerOf } from './callers.ts'
import { changesOwners, type EndpointRow, reads } from './endpoint-matrix.ts'
import { PAIR_TABLES } from './expect-changes.ts'
import type { Things, World } from './world.ts'

const between = { changes: PAIR_TABLES }

const accepts = {
  ...between,
  reply: ({ body }: Answer) => expect(body.status ?? 'accepted').toBe('accepted'),
}
const waits = ({ body }: Answer): void => expect(body.status).toBe('pending')

/** A request of a new account to the owner. */
async function newRequest(world: World): Promise<Partial<Things>> {
  const { account, friendship } = await callerOf('asking', world.owner)
  return { friendship, friendAlias: account.alias }
}

/** A new friend of the owner. */
async function newFriend(world: World): Promise<Partial<Things>> {
  const { account, friendship, conv } = await callerOf('friend', world.owner)
  return { friendship, conv, friendAlias: account.alias }
}

const others: Pick<EndpointRow[number], 'about' | 'ask'> = {
  about: 'of the owner and another account',
  ask: ({ things }) => ({ params: { id: things.friendship } }),
}
const withOwner: Pick<EndpointRow[number], 'about' | 'fresh' | 'ask'> = {
  about: 'of the owner and the caller, or that has ended',
  fresh: true,
  ask: ({ caller }) => ({ params: { id: caller.friendship } }),
}

export const friendRows = {
  listFriends: [
    { about: 'its friends', ask: () => ({}), gets: { others: reads } },
    {
      about: 'a page after the owner’s friendship',
      ask: ({ things }) => ({ query: { after: String(Number(things.friendship) - 1), limit: '10' } }),
      gets: { others: reads },
    },
  ],
  requestFriend: [
    {
      about: 'the owner',
      fresh: true,
      ask: ({ things }) => ({ body: { to_alias_id: things.alias } }),
      gets: {
        others: { changes: ['friendships'], reply: waits },
        owner: 'SELF_REQUEST',
        friend: 'ALREADY_FRIENDS',
        blocking: 'UNBLOCK_FIRST',
        asking: { ...reads, reply: waits },
        rejected: { ...reads, reply: waits },
        blocked: { changes: ['friendships'], reply: waits, seen: false },
        asked: accepts,
        rejecting: accepts,
      },
    },
  ],
  acceptFriend: [
    { ...others, prepare: newRequest, gets: { others: 'NOT_FOUND', owner: changesOwners } },
    {
      ...withOwner,
      gets: { others: 'NOT_FOUND', asked: accepts, rejecting: accepts },
    },
  ],
  rejectFriend: [
    { ...others, prepare: newRequest, gets: { others: 'NOT_FOUND', owner: changesOwners } },
    {
      ...withOwner,
      gets: { others: 'NOT_FOUND', asked: { changes: ['friendships'], seen: false }, rejecting: reads },
    },
  ],
  removeFriend: [
    { ...others, prepare: newFriend, gets: { others: 'NOT_FOUND', owner: changesOwners } },
    {
      ...withOwner,
      gets: {
        others: 'NOT_FOUND',
        ...{ friend: between, asking: between, asked: between, rejected: between, rejecting: between },
      },
    },
  ],
  block: [
    {
      about: 'the owner',
      fresh: true,
      ask: ({ things }) => ({ params: { alias_id: things.alias } }),
      gets: {
        others: between,
        stranger: { ...between, seen: false },
        blocked: { ...between, seen: false },
        blocking: reads,
        owner: 'SELF_REQUEST',
      },
    },
  ],
  unblock: [
    {
      about: 'the owner',
      fresh: true,
      ask: ({ things }) => ({ params: { alias_id: things.alias } }),
      ifMissing: 'done', // Else it would tell which aliases exist.
      // An account that the owner has blocked cannot lift that block.
      gets: { others: reads, blocking: { changes: ['blocks'], seen: false } },
    },
    {
      about: 'an account that the owner has blocked',
      prepare: async (world) => ({ friendAlias: (await callerOf('blocked', world.owner)).account.alias }),
      ask: ({ things }) => ({ params: { alias_id: things.friendAlias } }),
      gets: { others: reads, owner: changesOwners },
    },
  ],
  listBlocks: [{ about: 'its blocks', ask: () => ({}), gets: { others: reads } }],
} as const satisfies Readonly<Record<keyof typeof friendEndpoints, EndpointRow>>
