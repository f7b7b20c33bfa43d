// The rows of custom ids and orders.
import { expect } from 'bun:test'
import type { vanityEndpoints } from '@sotto/protocol'
import { type Case, changesOwners, type EndpointRow, ownOnly, reads } from './endpoint-matrix.ts'
import { freshAlias, type World } from './world.ts'

async function newPaidOrder(world: World) {
  const made = await world.newOrder()
  await world.confirm(made.order)
  return made
}

async function newPaidReservation(world: World) {
  const made = await world.newReservation()
  await world.confirm(made.order)
  return made
}

/** Ids that cannot be ordered, because accounts have them. */
const idsOfOthers = [
  {
    about: 'an alias that the relay has given to an account',
    ask: ({ things }) => ({ body: { alias_id: things.friendAlias } }),
    gets: { others: 'NOT_FOUND' },
  },
  {
    about: 'an id that the owner has bound',
    prepare: async (world) => {
      const made = await newPaidOrder(world)
      await world.bind(made.order)
      return made
    },
    ask: ({ things }) => ({ body: { alias_id: things.orderedAlias } }),
    gets: { others: 'ALIAS_TAKEN' },
  },
] as const satisfies Case[]

export const vanityRows = {
  searchVanity: [
    {
      about: 'an id that the owner has ordered',
      ask: ({ things }) => ({ query: { q: things.orderedAlias } }),
      gets: {
        others: {
          ...reads,
          reply: ({ body }, { orderedAlias }) =>
            expect(body.map(({ alias_id }: { alias_id: string }) => alias_id)).not.toContain(orderedAlias),
        },
      },
    },
  ],
  purchaseVanity: [
    ...idsOfOthers,
    {
      about: 'an id that nobody has',
      ask: () => ({ body: { alias_id: freshAlias() } }),
      gets: { others: ownOnly, owner: changesOwners },
    },
    {
      about: 'an id that the owner has ordered',
      ask: ({ things }) => ({ body: { alias_id: things.orderedAlias } }),
      gets: {
        others: 'ALIAS_TAKEN',
        owner: { ...reads, reply: ({ body }, { order }) => expect(body.order_id).toBe(order) },
      },
    },
  ],
  bindVanity: [
    {
      about: 'a paid order of the owner',
      prepare: newPaidOrder,
      ask: ({ things }) => ({ body: { order_id: things.order } }),
      gets: {
        others: 'NOT_FOUND',
        owner: {
          ...changesOwners,
          reply: ({ body }, { orderedAlias }) => expect(body).toEqual({ alias_id: orderedAlias }),
        },
      },
    },
    {
      about: 'an order of the owner that is not paid',
      ask: ({ things }) => ({ body: { order_id: things.order } }),
      gets: { others: 'NOT_FOUND', owner: 'ORDER_NOT_CONFIRMED' },
    },
    {
      about: 'an order that the owner has bound, before another one',
      prepare: async (world) => {
        const [first, second] = [await newPaidOrder(world), await newPaidOrder(world)]
        for (const { order } of [first, second]) await world.bind(order)
        return first
      },
      ask: ({ things }) => ({ body: { order_id: things.order } }),
      gets: { others: 'NOT_FOUND', owner: 'ALIAS_TAKEN' },
    },
    {
      about: 'a reservation that is not paid',
      prepare: (world) => world.newReservation(),
      ask: ({ things }) => ({ body: { order_id: things.order } }),
      gets: { others: 'ORDER_NOT_CONFIRMED' },
    },
    {
      // It has no owner until an account that knows its id binds it.
      about: 'a paid reservation',
      fresh: true,
      own: (_caller, world) => newPaidReservation(world),
      ask: ({ own }) => ({ body: { order_id: own.order } }),
      // Friends see its new alias.
      gets: { others: { ...ownOnly, seen: true }, stranger: ownOnly, owner: changesOwners },
    },
    {
      about: 'a paid reservation that the owner has bound',
      prepare: async (world) => {
        const made = await newPaidReservation(world)
        await world.bind(made.order)
        return made
      },
      ask: ({ things }) => ({ body: { order_id: things.order } }),
      gets: { others: 'NOT_FOUND', owner: reads },
    },
    {
      about: 'an order of the owner for a seat',
      prepare: async ({ owner }) => ({
        order: (await owner.bare('POST', '/channels/quota/buy')).body.order_id,
      }),
      ask: ({ things }) => ({ body: { order_id: things.order } }),
      gets: { others: 'NOT_FOUND' },
    },
  ],
  reserveVanity: [
    ...idsOfOthers,
    {
      about: 'an id that the owner has ordered',
      ask: ({ things }) => ({ body: { alias_id: things.orderedAlias } }),
      gets: { others: 'ALIAS_TAKEN' },
    },
    {
      about: 'an id that nobody has',
      ask: () => ({ body: { alias_id: freshAlias() } }),
      gets: { others: ownOnly },
    },
  ],
  listOrders: [{ about: 'its orders', ask: () => ({}), gets: { others: reads } }],
  // The unguessable id is the permission.
  orderStatus: [
    {
      about: 'an order of the owner',
      ask: ({ things }) => ({ params: { id: things.order } }),
      gets: {
        others: {
          ...reads,
          shows: ['orderedAlias'],
          reply: ({ body }, { orderedAlias }) =>
            expect(body).toEqual({ status: 'pending', alias_id: orderedAlias }),
        },
      },
    },
  ],
  // The unguessable id is the permission here too.
  chooseOrderMethod: [
    {
      about: 'an order of the owner',
      ask: ({ things }) => ({ params: { id: things.order }, body: { method: 'manual' } }),
      gets: {
        others: { ...reads, reply: ({ body }) => expect(body).toMatchObject({ method: 'manual' }) },
      },
    },
    {
      about: 'a paid order of the owner',
      prepare: newPaidOrder,
      ask: ({ things }) => ({ params: { id: things.order }, body: { method: 'manual' } }),
      gets: { others: 'ORDER_CLOSED' },
    },
  ],
} as const satisfies Readonly<Record<keyof typeof vanityEndpoints, EndpointRow>>
