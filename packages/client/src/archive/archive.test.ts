// Export and import, against a real relay and with hostile files.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SealedStream, STREAM_CHUNK_BYTES } from '@sotto/crypto'
import { derivePassphraseKey } from '@sotto/crypto/passphrase-key'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { Person } from '../../test/people.ts'
import {
  conversationId,
  friend,
  identity,
  intentOf,
  messageOf,
  session,
} from '../../test/stores/store-contract.ts'
import { type ClientStore, MemoryStore, SottoClient } from '../client.ts'
import { FileStore } from '../stores/file-store.ts'
import { SCHEMA_VERSION } from '../stores/migrations.ts'
import { passphraseVault } from '../stores/passphrase-vault.ts'
import type { StoreChange } from '../stores/records.ts'
import { exportArchive, importArchive } from './archive.ts'
import { readRecords } from './archive-records.ts'

// Long, because every archive costs scrypt, of which a busy machine does one in ten seconds.
setDefaultTimeout(180_000)

const PASSPHRASE = 'several words drawn by lot'
const HEADER_BYTES = 52
/** How many messages are in the archives that are altered. */
const MESSAGES = 900
const SEALED_BYTES = STREAM_CHUNK_BYTES + 16

let relay: RelayProcess
let root: string

beforeAll(async () => {
  relay = await startRelay()
  root = await mkdtemp(join(tmpdir(), 'sotto-archive-'))
})
afterAll(async () => {
  await relay.stop()
  await rm(root, { recursive: true })
})

/** A stream that gives bytes in pieces of this length. */
function inPieces(bytes: Uint8Array, length = 10_000): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(at, at + length))
      at += length
    },
  })
}

async function archiveOf(client: SottoClient): Promise<Uint8Array> {
  return new Uint8Array(await new Response(exportArchive(client, PASSPHRASE)).arrayBuffer())
}

function open(store: ClientStore = new MemoryStore()): Promise<SottoClient> {
  return SottoClient.open({ relayUrl: relay.url, store })
}

/** Everything in a store but the vault, in a form that does not depend on the kind of store. */
async function contentOf(store: ClientStore): Promise<unknown> {
  const sessions = await store.listSessions()
  return {
    identity: await store.getIdentity(),
    sessions,
    friends: await store.listFriends(),
    outbox: await store.listOutbox(),
    retracts: await store.listRetractIntents(),
    offline: await store.listOfflineMessages(),
    marks: await store.listReadMarks(),
    settings: await store.listSettings(),
    calls: await store.listCalls(),
    conversations: await Promise.all(
      sessions.map(async (one) => [
        await store.getTrust(one.conversationId),
        await store.listMessages(one.conversationId),
      ]),
    ),
  }
}

test('an account moves to another device, with what waits to be sent, and talks on there', async () => {
  const alice = await Person.join('alice', relay.url)
  const bob = await Person.join('bob', relay.url)
  const conv = await alice.befriend(bob)
  await alice.client.send(conv, 'one')
  await bob.receives('one')
  await bob.client.send(conv, 'two')
  await alice.receives('two')
  await alice.client.markVerified(conv)
  const { verifiedAt } = (await alice.client.trustState(conv)) as { verifiedAt: number }
  alice.client.disconnect()
  await alice.client.send(conv, 'written without a connection')
  const archive = await archiveOf(alice.client)
  await alice.client.close()

  const next = await Person.open('alice', relay.url, { store: await FileStore.open(join(root, 'alice')) })
  const imported = await importArchive(next.client, inPieces(archive), PASSPHRASE)
  expect(imported).toMatchObject({ nickname: 'alice', aliasId: next.alias })
  expect(imported).not.toHaveProperty('mnemonic')
  await next.connect()
  await bob.receives('written without a connection')
  await bob.client.send(conv, 'three')
  await next.receives('three')
  expect((await next.transcript(conv)).map((line) => line.replace(/ \[.*/, ''))).toEqual([
    'me: one',
    'them: two',
    'me: written without a connection',
    'them: three',
  ])
  expect(await next.client.trustState(conv)).toMatchObject({ status: 'verified', verifiedAt })
  await Promise.all([next.client.close(), bob.client.close()])
})

describe('every record', () => {
  const other = { ...session, conversationId: '44444444-4444-4444-8444-444444444444' } as typeof session
  const records: StoreChange[] = [
    { change: 'session', session },
    { change: 'session', session: other },
    {
      change: 'trust',
      conversationId,
      trust: { status: 'verified', verifiedAt: 4, fingerprintSnapshot: 'f' },
    },
    { change: 'read_mark', mark: { conversationId, readSeq: 4, toldSeq: 3 } },
    { change: 'outbox_added', intent: intentOf('waiting') },
    { change: 'message', message: messageOf({ id: 'waiting', isMe: true, status: 'sending', time: 9 }) },
    { change: 'message', message: messageOf({ id: 'failed', isMe: true, status: 'failed', time: 8 }) },
    { change: 'settings', settings: { conversationId, name: 'Ali', pinned: 1, draft: 'dear' } },
    ...Array.from({ length: 1203 }, (_, at): StoreChange => {
      const text = `message ${at} ${'ü'.repeat(at % 90)}`
      return {
        change: 'message',
        message: messageOf({ id: `m${at}`, text, seq: at + 1, isMe: at % 3 === 0 }),
      }
    }),
  ]

  /** A client with a real identity and these records. */
  async function filled(store: ClientStore): Promise<SottoClient> {
    const client = await open(store)
    await client.create({ nickname: 'Anna' })
    await store.write(records)
    return client
  }

  test('is in the archive and in every kind of store that it is imported into', async () => {
    const from = new MemoryStore()
    const client = await filled(from)
    const archive = await archiveOf(client)
    expect(archive.length).toBeGreaterThan(2 * SEALED_BYTES)
    const before = await contentOf(from)
    await client.close()
    for (const store of [new MemoryStore(), await FileStore.open(join(root, 'records'))]) {
      const next = await open(store)
      await importArchive(next, inPieces(archive, 777), PASSPHRASE)
      expect(await contentOf(store)).toEqual(before)
      expect((await next.messages(conversationId)).length).toBe(1205)
      await next.close()
    }
  })

  test('a message that was written after the outbox was read is not exported as one that waits', async () => {
    const from = new MemoryStore()
    const client = await filled(from)
    await from.write([{ change: 'outbox_removed', internalId: 'waiting' }])
    const next = await open()
    await importArchive(next, inPieces(await archiveOf(client)), PASSPHRASE)
    expect((await next.messages(conversationId)).map(({ id }) => id)).not.toContain('waiting')
    await Promise.all([client.close(), next.close()])
  })

  test('a sealed store seals what it imports', async () => {
    const client = await filled(new MemoryStore())
    const archive = await archiveOf(client)
    const store = new MemoryStore()
    const next = await SottoClient.open({ relayUrl: relay.url, store, secrets: passphraseVault() })
    await next.setPassphrase('another passphrase')
    await importArchive(next, inPieces(archive), PASSPHRASE)
    expect(next.identity?.mnemonic).toBe(client.identity?.mnemonic ?? '')
    expect((await store.getIdentity())?.mnemonic).toStartWith('sealed:')
    expect((await store.listSessions())[0]?.sessionKeyBase64).toStartWith('sealed:')
    await Promise.all([client.close(), next.close()])
  })
})

describe('a file that is none, or was altered', () => {
  let archive: Uint8Array
  let second: Uint8Array

  beforeAll(async () => {
    const make = async (): Promise<Uint8Array> => {
      const store = new MemoryStore()
      const client = await open(store)
      await client.create({ nickname: 'Anna' })
      await store.write([{ change: 'session', session }])
      // Enough that an import writes much of it before it comes to the end.
      const text = 'x'.repeat(100)
      for (let seq = 1; seq <= MESSAGES; seq += 1)
        await store.write([{ change: 'message', message: messageOf({ id: `m${seq}`, text, seq }) }])
      const made = await archiveOf(client)
      await client.close()
      return made
    }
    archive = await make()
    second = await make()
  })

  /** The code with which a file is refused. Nothing of it is in the store, and the client works. */
  async function refusal(bytes: Uint8Array, passphrase = PASSPHRASE): Promise<unknown> {
    const store = new MemoryStore()
    const client = await open(store)
    const { code } = (await failureOf(importArchive(client, inPieces(bytes), passphrase))) as {
      code?: unknown
    }
    const isEmpty = client.identity === undefined && (await store.listSessions()).length === 0
    const messages = await store.listMessages(conversationId)
    await client.close()
    return isEmpty && messages.length === 0 ? code : `${code}, and it left something`
  }

  const flipped = (at: number): Uint8Array => {
    const copy = archive.slice()
    copy[at] = (copy[at] ?? 0) ^ 1
    return copy
  }
  const chunk = (of: Uint8Array, number: number): Uint8Array =>
    of.slice(HEADER_BYTES + number * SEALED_BYTES, HEADER_BYTES + (number + 1) * SEALED_BYTES)
  const joined = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts))

  test('is refused before scrypt if its header is not ours', async () => {
    expect(await refusal(new Uint8Array(0))).toBe('INVALID_ARCHIVE')
    expect(await refusal(archive.slice(0, HEADER_BYTES - 1))).toBe('INVALID_ARCHIVE')
    for (const at of [0, 15, 16, 17, 18, 19]) expect(await refusal(flipped(at))).toBe('INVALID_ARCHIVE')
    for (const log2n of [0, 16, 19, 31, 255]) {
      const costly = archive.slice()
      costly[16] = log2n
      expect(await refusal(costly)).toBe('INVALID_ARCHIVE')
    }
  })

  test('is refused by its first chunk with a wrong passphrase or an altered beginning', async () => {
    expect(await refusal(archive, 'another')).toBe('WRONG_PASSPHRASE')
    expect(await refusal(flipped(20))).toBe('WRONG_PASSPHRASE')
    expect(await refusal(flipped(HEADER_BYTES))).toBe('WRONG_PASSPHRASE')
    expect(await refusal(joined(archive.slice(0, HEADER_BYTES), chunk(archive, 1)))).toBe('WRONG_PASSPHRASE')
    expect(await refusal(archive, '')).toBe('INVALID_ARGUMENT')
  })

  const header = (): Uint8Array => archive.slice(0, HEADER_BYTES)
  const alterations: readonly (readonly [string, () => Uint8Array])[] = [
    ['a flipped bit in the second chunk', () => flipped(HEADER_BYTES + SEALED_BYTES + 1)],
    ['a cut between chunks', () => joined(header(), chunk(archive, 0), chunk(archive, 1))],
    ['swapped chunks', () => joined(header(), ...[0, 2, 1, 3].map((number) => chunk(archive, number)))],
    ['a dropped chunk', () => joined(header(), ...[0, 2, 3].map((number) => chunk(archive, number)))],
    [
      'the end of another archive',
      () =>
        joined(
          header(),
          chunk(archive, 0),
          chunk(archive, 1),
          ...[2, 3].map((number) => chunk(second, number)),
        ),
    ],
    ['one byte more', () => joined(archive, new Uint8Array(1))],
  ]

  test.each(alterations)('is refused for %s', async (_, made) => {
    // There are four chunks.
    expect(chunk(archive, 3).length).toBeGreaterThan(16)
    expect(chunk(archive, 3).length).toBeLessThan(SEALED_BYTES)
    expect(await refusal(made())).toBe('INVALID_ARCHIVE')
  })

  test('is refused if its source fails or ends the import, and nothing remains', async () => {
    const store = new MemoryStore()
    const client = await open(store)
    const abort = new AbortController()
    async function* aborted(): AsyncGenerator<Uint8Array> {
      yield archive.slice(0, HEADER_BYTES + 2 * SEALED_BYTES)
      abort.abort()
      yield archive.slice(HEADER_BYTES + 2 * SEALED_BYTES)
    }
    const options = { signal: abort.signal }
    expect(await failureOf(importArchive(client, aborted(), PASSPHRASE, options))).toMatchObject({
      code: 'ABORTED',
    })
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield archive.slice(0, 3 * SEALED_BYTES)
      throw new Error('the disk is gone')
    }
    expect(await failureOf(importArchive(client, broken(), PASSPHRASE))).toMatchObject({
      message: 'the disk is gone',
    })
    expect(await store.listSessions()).toEqual([])
    await importArchive(client, inPieces(archive, 1_000_000), PASSPHRASE)
    expect((await client.messages(conversationId)).length).toBe(MESSAGES)
    expect(await failureOf(importArchive(client, inPieces(archive), PASSPHRASE))).toMatchObject({
      code: 'IDENTITY_EXISTS',
    })
    await client.close()
  })

  test('is refused if somebody who knows the passphrase wrote something else into it', async () => {
    const header = archive.slice(0, HEADER_BYTES)
    const cost = { n: 2 ** 17, r: 8, p: 1 }
    const key = await derivePassphraseKey({ passphrase: PASSPHRASE, salt: header.slice(20), cost })
    const sealed = async (text: string): Promise<Uint8Array> =>
      joined(
        header,
        await new SealedStream({ key, context: header }).seal(Buffer.from(text), { isLast: true }),
      )
    const first = JSON.stringify({ format: 'sotto-archive', version: SCHEMA_VERSION })
    const me = JSON.stringify({ change: 'identity', identity })
    for (const [text, code] of [
      ['{}\n', 'INVALID_ARCHIVE'],
      [`${first}\n`, 'INVALID_ARCHIVE'],
      [`${first}\n${me}\n{}\n`, 'INVALID_ARCHIVE'],
      [`${first}\n${me}\n{"change":"clear"}\n`, 'INVALID_ARCHIVE'],
      // The keys of this identity are not those of its phrase.
      [`${first}\n${me}\n`, 'INVALID_ARCHIVE'],
      [`${JSON.stringify({ format: 'sotto-archive', version: SCHEMA_VERSION + 1 })}\n`, 'STORE_FAILED'],
    ] as const)
      expect([text, await refusal(await sealed(text))]).toEqual([text, code])
  })
})

test('what is taken back while the archive is made is not sent from it, and the rest keeps its order', async () => {
  const store = new MemoryStore()
  await store.write([
    { change: 'identity', identity },
    { change: 'session', session },
    ...['third', 'retracted', 'first', 'deleted'].flatMap((id, at): StoreChange[] => [
      { change: 'outbox_added', intent: intentOf(id) },
      // The clock went back between the messages.
      { change: 'message', message: messageOf({ id, isMe: true, status: 'sending', time: 9 - at }) },
    ]),
  ])
  const records: StoreChange[] = []
  for await (const record of readRecords(store)) {
    records.push(record)
    if (record.change !== 'session') continue
    const message = { conversationId, isMe: true }
    await store.write([
      {
        change: 'message_patch',
        ...message,
        id: intentOf('retracted').internalId,
        patch: { retracted: true },
      },
      { change: 'message_removed', ...message, id: intentOf('deleted').internalId },
    ])
  }
  const sent = records.flatMap((record) =>
    record.change === 'outbox_added' ? [record.intent.internalId] : [],
  )
  expect(sent.map(String)).toEqual(['third', 'first'])
  expect(JSON.stringify(records)).not.toMatch(/retracted|deleted/)
})

test('a conversation whose session is gone is in the archive, too', async () => {
  const message = messageOf({ id: 'kept', seq: 1 })
  for (const naming of [
    { change: 'read_mark', mark: { conversationId, readSeq: 1, toldSeq: 1 } },
    { change: 'settings', settings: { conversationId, pinned: 1 } },
    { change: 'friends', friends: [friend] },
  ] satisfies StoreChange[]) {
    const store = new MemoryStore()
    await store.write([{ change: 'identity', identity }, naming, { change: 'message', message }])
    expect(await Array.fromAsync(readRecords(store))).toContainEqual({ change: 'message', message })
  }
})

test('an export without an identity fails, and one that nobody reads to the end ends', async () => {
  const client = await open()
  const failed = await failureOf(new Response(exportArchive(client, PASSPHRASE)).arrayBuffer())
  expect(failed).toMatchObject({ code: 'NO_IDENTITY' })
  await client.create({ nickname: 'Anna' })
  expect(await failureOf(new Response(exportArchive(client, '')).arrayBuffer())).toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
  const reader = exportArchive(client, PASSPHRASE).getReader()
  expect((await reader.read()).value?.length).toBe(HEADER_BYTES)
  await reader.cancel()
  await client.close()
})
