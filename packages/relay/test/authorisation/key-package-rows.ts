// The rows of key packages.
import { expect } from 'bun:test'
import type { keyPackageEndpoints } from '@sotto/protocol'
import { changesOwners, type EndpointRow, ownOnly, reads } from './endpoint-matrix.ts'

/** When packages of these rows expire, long after the relay's day. */
const END = new Date(Date.now() + 30 * 86_400_000).toISOString()

export const keyPackageRows = {
  uploadKeyPackages: [
    {
      about: 'the id of a package of the owner',
      // An account chooses the ids of its packages: another account may use the same.
      ask: ({ things }) => ({
        body: {
          device: crypto.randomUUID().replaceAll('-', ''),
          packages: [{ id: things.keyPackageId, package: 'AAAA', expires_at: END }],
          last_resort: { id: crypto.randomUUID(), package: 'AAAA' },
        },
      }),
      gets: { others: ownOnly, owner: changesOwners },
    },
  ],
  listKeyPackages: [
    {
      about: 'its devices',
      ask: () => ({}),
      gets: { others: reads, owner: { ...reads, shows: ['keyDevice'] } },
    },
  ],
  deleteKeyPackages: [
    {
      about: 'the owner’s device',
      ask: ({ things }) => ({ params: { device: things.keyDevice } }),
      ifMissing: 'done', // A repeated request finds nothing either.
      prepare: (world) => world.newKeyPackage(),
      gets: { others: reads, owner: changesOwners },
    },
    {
      about: 'a device of its own',
      own: ({ account }, world) => world.newKeyPackage(account),
      ask: ({ own: { keyDevice } }) => ({ params: { device: keyDevice } }),
      gets: { others: ownOnly, owner: changesOwners },
    },
  ],
  claimKeyPackages: [
    {
      about: 'of the conversation of the owner and another account',
      prepare: async (world) => {
        await world.newKeyPackage(world.friend)
        return {}
      },
      ask: ({ things }) => ({ params: { conv_id: things.conv } }),
      gets: { others: 'NOT_FOUND', owner: changesOwners },
    },
    {
      about: 'of the conversation of the owner and the caller, or one that is closed',
      prepare: (world) => world.newKeyPackage(),
      ask: ({ caller }) => ({ params: { conv_id: caller.conv } }),
      gets: {
        others: 'NOT_FOUND',
        friend: {
          changes: ['key_packages', 'key_package_claims'],
          shows: ['keyDevice', 'keyPackageId', 'keyPackage'],
          reply: ({ body }, { keyDevice, keyPackageId, keyPackage }) =>
            expect(body.packages).toContainEqual({
              ...{ device: keyDevice, id: keyPackageId, package: keyPackage },
              is_last_resort: false,
            }),
        },
      },
    },
  ],
} as const satisfies Readonly<Record<keyof typeof keyPackageEndpoints, EndpointRow>>
