// The rows of accounts, conversations, push and calls.
import { expect } from 'bun:test'
import type {
  accountEndpoints,
  callEndpoints,
  conversationEndpoints,
  inviteEndpoints,
  pushEndpoints,
} from '@sotto/protocol'
import type { Answer } from '../wire.ts'
import { changesOwners, type EndpointRow, ownOnly, reads } from './endpoint-matrix.ts'
import { PAIR_TABLES } from './expect-changes.ts'
import type { Things } from './world.ts'

/** Expects an answer about the caller: it names neither the owner nor a thing of the owner. */
const own = { about: 'what is its own', ask: () => ({}) } as const

const showsProfile = ({ body }: Answer, { alias }: Things): void =>
  expect(body).toEqual({
    alias_id: alias,
    nickname: expect.any(String),
    x25519_public_key: expect.any(String),
    ed25519_public_key: expect.any(String),
  })

export const accountRows = {
  powChallenge: [{ about: 'a challenge', ask: () => ({}), gets: { others: ownOnly } }],
  register: [
    {
      about: 'the owner’s key',
      ask: ({ caller, world }) => ({
        body: {
          ed25519_public_key: world.owner.ed25519,
          x25519_public_key: caller.account.x25519,
          nickname: 'again',
        },
      }),
      // Clients recover their accounts by this answer.
      gets: {
        others: {
          refused: 'ACCOUNT_EXISTS',
          more: ({ uuid, alias }) => ({ uuid, alias_id: alias }),
        },
      },
    },
  ],
  authChallenge: [
    {
      about: 'the owner',
      ask: ({ things }) => ({ body: { user_uuid: things.uuid } }),
      gets: { others: reads },
    },
  ],
  authVerify: [
    {
      about: 'the owner’s challenge, signed with another key',
      prepare: (world) => world.newChallenge(),
      ask: ({ things: { uuid, challenge }, world }) => ({
        body: { user_uuid: uuid, challenge, signature: world.friend.sign(challenge) },
      }),
      gets: { others: 'SIGNATURE_INVALID' },
    },
    {
      about: 'the owner’s challenge, for the account of the key',
      prepare: (world) => world.newChallenge(),
      ask: ({ things: { challenge }, world }) => ({
        body: { user_uuid: world.friend.uuid, challenge, signature: world.friend.sign(challenge) },
      }),
      gets: { others: 'CHALLENGE_INVALID' },
    },
    {
      about: 'another account’s challenge, for the owner',
      prepare: (world) => world.newChallenge(world.friend),
      ask: ({ things: { uuid, challenge }, world }) => ({
        body: { user_uuid: uuid, challenge, signature: world.friend.sign(challenge) },
      }),
      gets: { others: 'CHALLENGE_INVALID' },
    },
  ],
  authLogout: [
    {
      about: 'a token of its own',
      own: async ({ account }) => {
        const kept = account.token
        const challenge = await account.login()
        account.token = kept
        return { challenge }
      },
      ask: ({ own: { challenge } }) => ({ token: challenge }),
      gets: { others: ownOnly },
    },
  ],
  authLogoutAll: [
    // The owner itself is one of the tokens “logged out everywhere”.
    { about: 'its tokens', fresh: true, ask: () => ({}), gets: { owner: 'untried', others: ownOnly } },
  ],
  wsTicket: [{ ...own, gets: { others: ownOnly, owner: changesOwners } }],
  getMe: [
    {
      ...own,
      gets: {
        others: { ...reads, reply: ({ body }, { uuid }) => expect(body.uuid).not.toBe(uuid) },
        owner: { ...reads, reply: ({ body }, { uuid }) => expect(body.uuid).toBe(uuid) },
      },
    },
  ],
  patchMe: [
    {
      about: 'its nickname, with the owner’s names in the body',
      ask: ({ things, caller }) => ({
        body: { nickname: `${caller.relation} now`, uuid: things.uuid, alias_id: things.alias, id: 1 },
      }),
      gets: { others: ownOnly, owner: changesOwners },
    },
  ],
  deleteMe: [
    {
      about: 'its account',
      fresh: true,
      ask: () => ({}),
      // What the two had together ends; nothing else of the owner does.
      gets: { owner: 'untried', stranger: ownOnly, others: { changes: PAIR_TABLES } },
    },
  ],
  lookUpUser: [
    {
      about: 'the owner',
      ask: ({ things }) => ({ params: { alias_id: things.alias } }),
      gets: { others: { ...reads, shows: ['nickname', 'ed25519', 'x25519'], reply: showsProfile } },
    },
  ],
} as const satisfies Readonly<Record<keyof typeof accountEndpoints, EndpointRow>>

export const conversationRows = {
  activeConversations: [{ ...own, gets: { others: reads } }],
  conversationGroup: [
    {
      about: 'of the owner and another account',
      ask: ({ things }) => ({ params: { conv_id: things.conv } }),
      gets: { others: 'NOT_FOUND', owner: reads },
    },
    {
      about: 'of the owner and the caller, or that was closed',
      ask: ({ caller }) => ({ params: { conv_id: caller.conv } }),
      gets: {
        others: 'NOT_FOUND',
        friend: { ...reads, reply: ({ body }) => expect(body).toEqual({ epoch: 0 }) },
      },
    },
  ],
  withdrawMessages: [
    {
      about: 'of the owner and another account',
      ask: ({ things }) => ({ params: { conv_id: things.conv } }),
      gets: { others: 'NOT_FOUND', owner: reads },
    },
    {
      about: 'of the owner and the caller, or that was closed',
      ask: ({ caller }) => ({ params: { conv_id: caller.conv } }),
      gets: { others: 'NOT_FOUND', friend: { changes: PAIR_TABLES } },
    },
  ],
} as const satisfies Readonly<Record<keyof typeof conversationEndpoints, EndpointRow>>

export const pushRows = {
  pushVapidKey: [{ about: 'the key', ask: () => ({}), gets: { others: reads } }],
  pushSubscribe: [
    {
      about: 'a browser of its own',
      ask: ({ world }) => ({
        body: { endpoint: `https://localhost:1025/${crypto.randomUUID()}`, keys: world.keys },
      }),
      gets: { others: ownOnly, owner: changesOwners },
    },
    {
      about: 'the owner’s browser',
      prepare: async (world) => {
        const endpoint = `https://localhost:1025/${crypto.randomUUID()}`
        await world.owner.post('/push/subscribe', { endpoint, keys: world.keys })
        return { endpoint }
      },
      ask: ({ things: { endpoint }, world }) => ({ body: { endpoint, keys: world.keys } }),
      // Its endpoint is its permission: a browser belongs to the last account that subscribed it.
      gets: { others: { changes: ['push_subscriptions'], seen: false }, owner: reads },
    },
  ],
  pushRegister: [
    {
      about: 'a device of its own',
      ask: () => ({ body: { token: `device:${crypto.randomUUID()}`, platform: 'android' } }),
      gets: { others: ownOnly, owner: changesOwners },
    },
    {
      about: 'the owner’s device',
      prepare: async (world) => {
        const device = `device:${crypto.randomUUID()}`
        await world.owner.post('/push/register', { token: device, platform: 'android' })
        return { device }
      },
      ask: ({ things: { device } }) => ({ body: { token: device, platform: 'android' } }),
      gets: { others: { changes: ['push_subscriptions'], seen: false }, owner: reads },
    },
  ],
  pushDisable: [
    {
      about: 'its subscriptions',
      own: async ({ account }, { keys }) => {
        const endpoint = `https://localhost:1025/${crypto.randomUUID()}`
        await account.post('/push/subscribe', { endpoint, keys })
        return { endpoint }
      },
      ask: () => ({}),
      gets: { others: ownOnly, owner: changesOwners },
    },
  ],
} as const satisfies Readonly<Record<keyof typeof pushEndpoints, EndpointRow>>

export const inviteRows = {
  listInvites: [{ ...own, gets: { others: reads, owner: { ...reads, shows: ['invite'] } } }],
  makeInvite: [
    { about: 'an invite of its own', ask: () => ({}), gets: { others: ownOnly, owner: changesOwners } },
  ],
  revokeInvite: [
    {
      about: 'an invite of the owner',
      prepare: (world) => world.newInvite(),
      ask: ({ things: { invite } }) => ({ params: { id: invite } }),
      gets: { others: 'NOT_FOUND', owner: changesOwners },
    },
    {
      about: 'an invite of its own',
      own: ({ account }, world) => world.newInvite(account),
      ask: ({ own: { invite } }) => ({ params: { id: invite } }),
      gets: { others: ownOnly, owner: changesOwners },
    },
  ],
} as const satisfies Readonly<Record<keyof typeof inviteEndpoints, EndpointRow>>

export const callRows = {
  iceConfig: [{ about: 'the servers', ask: () => ({ query: { mode: 'relay' } }), gets: { others: reads } }],
} as const satisfies Readonly<Record<keyof typeof callEndpoints, EndpointRow>>
