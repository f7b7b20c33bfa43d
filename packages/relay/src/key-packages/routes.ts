// The endpoints of key packages.
import { encodeFrame } from '@sotto/protocol'
import type { Bus } from '../cluster/bus.ts'
import type { Handlers } from '../listener/route.ts'
import type { Storage } from '../storage/storage.ts'
import { claimKeyPackages } from './claims.ts'
import { deleteDevice, type KeyPackageRules, listDevices, uploadKeyPackages } from './devices.ts'

/** What the endpoints are built from. */
export interface KeyPackageParts extends KeyPackageRules {
  readonly storage: Storage
  readonly bus: Bus
}

type Names = 'uploadKeyPackages' | 'listKeyPackages' | 'deleteKeyPackages' | 'claimKeyPackages'

export function keyPackageRoutes(parts: KeyPackageParts): Handlers<Names> {
  const { storage, bus, clock } = parts
  return {
    uploadKeyPackages: async ({ caller, body }) => {
      const { count, has_last_resort } = await storage.transaction((sql) =>
        uploadKeyPackages(sql, caller.id, body, parts),
      )
      return { count, has_last_resort }
    },

    listKeyPackages: async ({ caller }) => {
      const devices = await listDevices(storage.sql, caller.id, clock.now())
      return {
        devices: devices.map(({ expires_at, ...device }) => ({
          ...device,
          expires_at: expires_at === null ? null : new Date(expires_at).toISOString(),
        })),
      }
    },

    deleteKeyPackages: async ({ caller, params }) => {
      await storage.transaction((sql) => deleteDevice(sql, caller.id, params.device, parts))
    },

    claimKeyPackages: async ({ caller, params }) => {
      const { owner, packages, few } = await storage.transaction((sql) =>
        claimKeyPackages(sql, caller.id, params.conv_id, parts),
      )
      // A hint may get lost: a client that connects asks for the counts.
      for (const { device, left } of few)
        bus.ring(owner, { kind: 'frame', frame: encodeFrame({ type: 'key_packages_low', device, left }) })
      return { packages: [...packages] }
    },
  }
}
