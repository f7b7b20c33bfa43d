// Export and import of everything that a device holds for its identity, encrypted under a passphrase. A
// separate entry of the package, so that only its users load scrypt.
import { check } from '@sotto/protocol'
import * as v from 'valibot'
import { type ActiveIdentity, activate, type PreparedIdentity } from '../account/account.ts'
import { ClientError, throwIfAborted } from '../client-error.ts'
import type { Device } from '../device.ts'
import { type AnyClient, onDevice } from '../module-access.ts'
import type { Platform } from '../platform/platform.ts'
import {
  newerSchema,
  type PublicIdentity,
  publicPart,
  SCHEMA_VERSION,
  type StoredIdentity,
} from '../stores/stores.ts'
import { openLines, sealLines } from './archive-file.ts'
import { RecordWriter, readRecords } from './archive-records.ts'

/** An archive to import: a stream, such as `file.stream()`, or another source of bytes in pieces. */
export type ArchiveSource = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

const FORMAT = 'sotto-archive'
const FirstLine = v.object({
  format: v.literal(FORMAT),
  version: v.pipe(v.number(), v.integer(), v.minValue(1)),
})

/**
 * Everything that this device holds for its identity, as one encrypted file: the recovery phrase, the keys of
 * all conversations, contacts and which of them are verified, messages, and what still waits to be sent. The
 * files of images, voice and file messages are not in it: the relay has them for as long as it keeps them.
 * Messages that were deleted here are not in it either, and it does not record that they were deleted.
 *
 * Anyone with the file and the passphrase has the account. scrypt (N = 2^17, r = 8, p = 1; RFC 7914) makes
 * each guess cost 128 MiB and most of a second; choose several random words. The file is made in bounded
 * memory while the stream is read, and the client goes on meanwhile. With a `SharedClient`, this tab takes
 * over the client.
 *
 * The stream fails with ClientError `NO_IDENTITY`, `LOCKED`, `CLOSED`, `INVALID_ARGUMENT` for an empty
 * passphrase, `STORE_FAILED`, `NO_ANSWER` if another tab took over meanwhile.
 */
export function exportArchive(client: AnyClient, passphrase: string): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const write = async ({ platform }: Device): Promise<void> => {
    const sealed = sealLines(linesOf(platform), { passphrase, randomBytes: platform.random })
    for await (const bytes of sealed) await writer.write(bytes)
    await writer.close()
  }
  // A reader that cancels ends the writing, and needs no error.
  onDevice(client, write).catch((error) => writer.abort(error).catch(() => {}))
  return readable
}

/**
 * Writes an archive into the store of a client that has no identity, which then has the archive's. Everything
 * is imported or nothing.
 *
 * The two devices have one account. The newest connection wins, so the older device gets `goaway` with
 * `new_device_login`; delete its data, or do not connect it any more. With a `SharedClient`, this tab takes
 * over the client.
 * @throws ClientError `IDENTITY_EXISTS`, `WRONG_PASSPHRASE`, `INVALID_ARCHIVE` if it was altered or cut
 *   short, `STORE_FAILED`, also for an archive of a newer program.
 */
export function importArchive(
  client: AnyClient,
  archive: ArchiveSource,
  passphrase: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<PublicIdentity> {
  return onDevice(client, async (device) =>
    publicPart(
      await device.take(options, (platform, { signal }) =>
        readArchive(platform, archive, passphrase, signal),
      ),
    ),
  )
}

async function readArchive(
  platform: Platform,
  archive: ArchiveSource,
  passphrase: string,
  signal: AbortSignal | undefined,
): Promise<PreparedIdentity> {
  const { store } = platform
  if (await store.getIdentity())
    throw new ClientError('IDENTITY_EXISTS', 'an archive is imported only into a client without an identity')
  const lines = openLines(piecesOf(archive), passphrase)
  let hasBegun = false
  try {
    const version = versionOf((await lines.next()).value)
    hasBegun = true
    await store.write([{ change: 'clear' }])
    const writer = new RecordWriter(store, version)
    for await (const line of lines) {
      throwIfAborted(signal)
      await writer.take(parsed(line))
    }
    // Written last: until then, a device that crashed has no identity, and `create` clears the rest.
    const stored = await writer.end()
    return {
      identity: await activated(platform, stored),
      changes: [{ change: 'identity', identity: stored }],
    }
  } catch (error) {
    if (hasBegun) await store.write([{ change: 'clear' }])
    throw error
  } finally {
    await lines.return()
  }
}

async function activated(platform: Platform, stored: StoredIdentity): Promise<ActiveIdentity> {
  try {
    return await activate(platform, stored)
  } catch (cause) {
    throw new ClientError('INVALID_ARCHIVE', 'the phrase of the archive is not that of its identity', {
      cause,
    })
  }
}

async function* linesOf({ store, clock }: Platform): AsyncGenerator<string, void> {
  yield JSON.stringify({ format: FORMAT, version: SCHEMA_VERSION, createdAt: clock.now() })
  for await (const record of readRecords(store)) yield JSON.stringify(record)
}

function versionOf(line: unknown): number {
  try {
    const { version } = check(FirstLine, parsed(String(line)))
    if (version <= SCHEMA_VERSION) return version
    throw newerSchema(version)
  } catch (cause) {
    if (cause instanceof ClientError) throw cause
    throw new ClientError('INVALID_ARCHIVE', 'the archive does not say what it contains', { cause })
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new ClientError('INVALID_ARCHIVE', 'a line of the archive is not JSON', { cause })
  }
}

// Not every browser can iterate over a stream.
async function* piecesOf(source: ArchiveSource): AsyncGenerator<Uint8Array, void> {
  if (!('getReader' in source)) {
    yield* source
    return
  }
  const reader = source.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
