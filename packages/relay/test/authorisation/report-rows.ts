// The row of reports.
import type { reportEndpoints } from '@sotto/protocol'
import { changesOwners, type EndpointRow, ownOnly } from './endpoint-matrix.ts'

export const reportRows = {
  report: [
    {
      about: 'the owner’s account',
      ask: ({ things }) => ({ body: { about: 'account', alias_id: things.alias, reason: 'spam' } }),
      gets: { others: ownOnly, owner: changesOwners },
    },
    {
      about: 'the owner’s channel',
      ask: ({ things }) => ({ body: { about: 'channel', channel_id: things.channel, reason: 'spam' } }),
      gets: { others: ownOnly, owner: changesOwners },
    },
  ],
} as const satisfies Readonly<Record<keyof typeof reportEndpoints, EndpointRow>>
