// Endpoints of key packages.
import * as keyPackages from '../bodies/key-packages.ts'
import { define, type Summaries } from './endpoint.ts'

export const keyPackageEndpoints = define({
  uploadKeyPackages: {
    method: 'POST',
    path: '/key-packages',
    auth: 'account',
    rate: 'keyPackages',
    body: keyPackages.UploadKeyPackagesBody,
    status: 200,
    reply: keyPackages.UploadKeyPackagesReply,
    adds: 'much',
    errors: ['TOO_MANY_KEY_PACKAGES'],
  },
  listKeyPackages: {
    method: 'GET',
    path: '/key-packages',
    auth: 'account',
    rate: 'read',
    status: 200,
    reply: keyPackages.OwnKeyPackages,
    errors: [],
  },
  deleteKeyPackages: {
    method: 'DELETE',
    path: '/key-packages/{device}',
    auth: 'account',
    rate: 'write',
    params: keyPackages.KeyPackagesPath,
    status: 200,
    errors: ['NOT_FOUND'],
  },
  claimKeyPackages: {
    method: 'POST',
    path: '/conversations/{conv_id}/key-packages/claim',
    auth: 'account',
    rate: 'keyPackages',
    params: keyPackages.ClaimPath,
    status: 200,
    reply: keyPackages.ClaimedKeyPackages,
    notIdempotent: true,
    adds: 'little',
    errors: ['NOT_FOUND', 'NO_KEY_PACKAGES'],
  },
})

/** One line about each endpoint, for the documents. */
export const keyPackageSummaries: Summaries<typeof keyPackageEndpoints> = {
  uploadKeyPackages: 'Adds key packages of a device; one with an id that is known changes nothing',
  listKeyPackages: 'How many key packages the caller’s devices have, the device that uploaded last first',
  deleteKeyPackages: 'Deletes the key packages of a device of the caller; an unknown device answers the same',
  claimKeyPackages:
    'Takes a key package of each device of the other account, the oldest; each is given out once, except the last resort',
}
