// The rows of media.
import { expect } from 'bun:test'
import type { mediaEndpoints } from '@sotto/protocol'
import type { Answer } from '../wire.ts'
import { type Case, changesOwners, type EndpointRow, ownOnly, reads } from './endpoint-matrix.ts'
import type { World } from './world.ts'

const ofOwner = {
  about: 'the owner’s upload',
  prepare: (world: World) => world.newUpload(),
  ask: ({ things }) => ({ params: { upload_id: things.upload } }),
} as const satisfies Partial<Case>

const onlyOwner = { others: 'NOT_FOUND', owner: changesOwners } as const

const own: Pick<Case, 'own'> = { own: ({ account }, world) => world.newUpload(account) }

const hasWaiting =
  (count: number) =>
  ({ body }: Answer): void =>
    expect(body.message_count).toBe(count)

const partsOf = (etag: string) => [{ etag, part_number: 1 }]

export const mediaRows = {
  initUpload: [
    {
      about: 'an upload of its own',
      ask: () => ({ body: {} }),
      gets: { others: ownOnly, owner: changesOwners },
    },
  ],
  uploadPart: [
    {
      ...ofOwner,
      ask: ({ things }) => ({
        params: { upload_id: things.upload },
        query: { mediaKey: things.uploadKey, partNumber: '1' },
        body: 'instead',
      }),
      gets: onlyOwner,
    },
    {
      ...own,
      about: 'its own upload, with the key of the owner’s',
      ask: ({ things, own: { upload } }) => ({
        params: { upload_id: upload },
        query: { mediaKey: things.uploadKey, partNumber: '1' },
        body: 'instead',
      }),
      gets: { others: 'NOT_FOUND' },
    },
    {
      ...own,
      about: 'the owner’s upload, with the key of its own',
      ask: ({ things, own: { uploadKey } }) => ({
        params: { upload_id: things.upload },
        query: { mediaKey: uploadKey, partNumber: '1' },
        body: 'instead',
      }),
      gets: { others: 'NOT_FOUND' },
    },
  ],
  getUpload: [{ ...ofOwner, gets: { others: 'NOT_FOUND', owner: reads } }],
  completeUpload: [
    {
      ...ofOwner,
      ask: ({ things: { upload, uploadKey, etag } }) => ({
        params: { upload_id: upload },
        body: { media_key: uploadKey, parts: partsOf(etag) },
      }),
      gets: onlyOwner,
    },
    {
      ...own,
      about: 'its own upload, under the key of the owner’s',
      ask: ({ things: { uploadKey }, own: { upload, etag } }) => ({
        params: { upload_id: upload },
        body: { media_key: uploadKey, parts: partsOf(etag) },
      }),
      gets: { others: 'NOT_FOUND' },
    },
    {
      ...own,
      about: 'its own upload, under the key of the owner’s blob',
      ask: ({ things: { blob }, own: { upload, etag } }) => ({
        params: { upload_id: upload },
        body: { media_key: blob, parts: partsOf(etag) },
      }),
      gets: { others: 'NOT_FOUND' },
    },
  ],
  abortUpload: [{ ...ofOwner, gets: onlyOwner }],
  uploadUrl: [
    {
      about: 'a link of its own, naming the owner’s conversation',
      ask: ({ things }) => ({ body: { conversation_id: things.conv, size: 4 } }),
      gets: { others: ownOnly, owner: changesOwners },
    },
  ],
  // The unguessable key is the permission.
  downloadMedia: [
    {
      about: 'the owner’s blob',
      ask: ({ things }) => ({ query: { key: things.blob } }),
      gets: { others: { ...reads, shows: ['blobText'] } },
    },
    {
      about: 'an upload that is not complete',
      ask: ({ things }) => ({ query: { key: things.uploadKey } }),
      gets: { others: 'NOT_FOUND' },
    },
  ],
  downloadUrl: [
    {
      about: 'the owner’s blob',
      ask: ({ things }) => ({ query: { key: things.blob } }),
      gets: { others: reads },
    },
    {
      about: 'an upload that is not complete',
      ask: ({ things }) => ({ query: { key: things.uploadKey } }),
      gets: { others: 'NOT_FOUND' },
    },
  ],
  // A link is a permission for one blob and one direction, whatever token comes with it.
  putMediaLink: [
    {
      about: 'a link of the owner that was not used',
      prepare: (world) => world.newWriteLink(),
      ask: ({ things, world }) => ({ params: { link: things.link }, body: world.blobBytes }),
      gets: { others: { changes: ['media_blobs', 'media_parts'] } },
    },
    {
      about: 'a link of the owner that was used',
      prepare: (world) => world.newBlob(),
      ask: ({ things, world }) => ({ params: { link: things.link }, body: world.blobBytes }),
      gets: { others: 'ALREADY_STORED' },
    },
    {
      about: 'a link of the owner that only reads',
      prepare: (world) => world.newReadLink(),
      ask: ({ things, world }) => ({ params: { link: things.link }, body: world.blobBytes }),
      gets: { others: 'NOT_FOUND' },
    },
    {
      about: 'a link of the owner that was altered',
      prepare: async (world) => ({ link: altered((await world.newWriteLink()).link) }),
      ask: ({ things, world }) => ({ params: { link: things.link }, body: world.blobBytes }),
      gets: { others: 'NOT_FOUND' },
    },
  ],
  getMediaLink: [
    {
      about: 'a link of the owner',
      prepare: (world) => world.newReadLink(),
      ask: ({ things }) => ({ params: { link: things.link } }),
      gets: { others: { ...reads, shows: ['blobText'] } },
    },
    {
      about: 'a link of the owner that only writes',
      prepare: (world) => world.newBlob(),
      ask: ({ things }) => ({ params: { link: things.link } }),
      gets: { others: 'NOT_FOUND' },
    },
    {
      about: 'a link of the owner that was altered',
      prepare: async (world) => ({ link: altered((await world.newReadLink()).link) }),
      ask: ({ things }) => ({ params: { link: things.link } }),
      gets: { others: 'NOT_FOUND' },
    },
  ],
  storageEstimate: [
    {
      about: 'its space',
      ask: () => ({}),
      gets: { others: { ...reads, reply: hasWaiting(0) }, owner: { ...reads, reply: hasWaiting(1) } },
    },
  ],
} as const satisfies Readonly<Record<keyof typeof mediaEndpoints, EndpointRow>>

function altered(link: string): string {
  return `${link.slice(0, 30)}${link[30] === 'A' ? 'B' : 'A'}${link.slice(31)}`
}
