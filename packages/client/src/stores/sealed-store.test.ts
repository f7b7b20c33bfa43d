// The sealed store: the store contract, and the protection of the secrets in the wrapped store.
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check, PublicKey } from '@sotto/protocol'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import { secretStatesContract } from '../../test/stores/secret-states-contract.ts'
import {
  identity,
  messageOf,
  otherConversationId,
  session,
  storeContract,
} from '../../test/stores/store-contract.ts'
import { FileStore } from './file-store.ts'
import { keyVault } from './key-vault.ts'
import { MemoryStore } from './memory-store.ts'
import { passphraseVault } from './passphrase-vault.ts'
import type { SessionRecord, VaultRecord } from './records.ts'
import { SealedStore } from './sealed-store.ts'
import type { ClientStore } from './store.ts'
import type { Vault } from './vault.ts'

const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))
const key = randomBytes(32)
const seal = (store: ClientStore, vault: Vault | undefined = keyVault(key)) =>
  SealedStore.open({ store, vaults: vault ? [vault] : [], randomBytes })

const root = await mkdtemp(join(tmpdir(), 'sotto-sealed-'))
let folders = 0
const newFolder = () => join(root, String(++folders))
const opened: FileStore[] = []
async function openFile(folder: string): Promise<FileStore> {
  const store = await FileStore.open(folder)
  opened.push(store)
  return store
}
afterAll(async () => {
  for (const store of opened) await store.close()
  await rm(root, { recursive: true })
})

const other: SessionRecord = {
  ...session,
  conversationId: otherConversationId,
  sessionKeyBase64: 'YW5vdGhlciBzZXNzaW9uIGtleSBvZiB0aGUgdGVzdHM=',
}
const secrets = [identity.mnemonic, session.sessionKeyBase64, other.sessionKeyBase64]
const everything = [
  { change: 'identity', identity },
  { change: 'session', session },
  { change: 'session', session: other },
] as const

describe('sealed memory store', () => {
  const open = async () => {
    const store = new MemoryStore()
    const sealed = await seal(store)
    const reopen = async () => {
      await sealed.close()
      store.reopen()
      return seal(store)
    }
    return { store: sealed, reopen }
  }
  storeContract(open)
  secretStatesContract(open, 'memory')
})

describe('sealed file store', () => {
  storeContract(async () => {
    const folder = newFolder()
    const sealed = await seal(await openFile(folder))
    const reopen = async () => {
      await sealed.close()
      return seal(await openFile(folder))
    }
    return { store: sealed, reopen }
  })
})

/** The content of all files in a folder, as text. */
async function textOf(folder: string): Promise<string> {
  const names = await readdir(folder)
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('\n')
}

async function expectSealed(folder: string): Promise<void> {
  const text = await textOf(folder)
  for (const secret of secrets) expect(text).not.toContain(secret)
  expect(text).toContain('sealed:1:')
  // The key's bytes do not appear in other encodings, and no two words of the phrase appear in a row.
  expect(text).not.toContain(Buffer.from(session.sessionKeyBase64, 'base64').toString('hex'))
  expect(text).not.toContain(Buffer.from(session.sessionKeyBase64, 'base64').toString('latin1'))
  expect(text).not.toContain('abandon abandon')
}

async function expectWhole(store: ClientStore): Promise<void> {
  expect(await store.getIdentity()).toEqual(identity)
  expect(await store.listSessions()).toEqual([session, other])
}

describe('the content of the store', () => {
  test('contains neither the phrase, nor session keys, nor the vault’s key', async () => {
    const folder = newFolder()
    const store = await seal(await openFile(folder))
    await store.write(everything)
    await expectSealed(folder)
    await expectWhole(store)
    expect(await textOf(folder)).not.toContain(Buffer.from(key).toString('base64'))
  })

  test('an unsealed store is sealed in one write, and keeps no secret in plain text', async () => {
    const folder = newFolder()
    const plain = await openFile(folder)
    await plain.write(everything)
    for (const secret of secrets) expect(await textOf(folder)).toContain(secret)
    const store = await seal(plain)
    await expectSealed(folder)
    await expectWhole(store)
    await store.close()
    await expectWhole(await seal(await openFile(folder)))
  })

  test('a crash while a store is being sealed leaves either all secrets sealed or none', async () => {
    const folder = newFolder()
    const plain = await openFile(folder)
    await plain.write(everything)
    await plain.close()
    const before = await readFile(join(folder, 'store.log'))
    const sealed = await seal(await openFile(folder))
    await sealed.close()
    const after = await readFile(join(folder, 'store.log'))
    // First the old file with an incomplete new file beside it. After the loop, only the complete new file.
    for (let length = 0; length < after.length; length += 101) {
      await writeFile(join(folder, 'store.log'), before)
      await writeFile(join(folder, 'store.log.next'), after.subarray(0, length))
      const store = await openFile(folder)
      expect(await store.getVault()).toBeUndefined()
      await expectWhole(store)
      await store.close()
    }
    await writeFile(join(folder, 'store.log'), after)
    const store = await seal(await openFile(folder))
    await expectWhole(store)
    await expectSealed(folder)
    await store.close()
  })

  test('a secret written while the store is being sealed is sealed as well, and is not overwritten', async () => {
    // Writes at every step of the sealing.
    for (let turns = 0; turns < 40; turns += 1) {
      const store = new MemoryStore()
      await store.write([
        { change: 'identity', identity },
        { change: 'session', session },
      ])
      const sealed = await seal(store, { ...keyVault(key), needsPassphrase: true })
      const sealing = sealed.protect('whatever it is')
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
      const changed = { ...session, createdAt: 99 }
      await sealed.write([
        { change: 'session', session: changed },
        { change: 'session', session: other },
      ])
      await sealing
      expect(await sealed.listSessions()).toEqual([changed, other])
      const kept = (await store.listSessions()).map(({ sessionKeyBase64 }) => sessionKeyBase64)
      expect(kept.every((text) => text.startsWith('sealed:1:'))).toBe(true)
    }
  })

  test('secrets stored after everything was cleared are sealed as well', async () => {
    const folder = newFolder()
    const store = await seal(await openFile(folder))
    await store.write(everything)
    await store.write([{ change: 'clear' }, ...everything])
    await expectSealed(folder)
    await store.close()
    await expectWhole(await seal(await openFile(folder)))
  })
})

describe('a sealed value', () => {
  /** A sealed store, the memory store in it, which a test can alter, and two sealed sessions. */
  async function sealedMemory() {
    const memory = new MemoryStore()
    const store = await seal(memory)
    await store.write(everything)
    const [first, second] = await memory.listSessions()
    if (!first || !second) throw new Error('no sessions')
    return { memory, store, first, second }
  }
  const altered = { code: 'STORE_FAILED', message: 'a sealed secret was altered, or moved from its record' }

  test('opens only in its own record', async () => {
    const { memory, store, first, second } = await sealedMemory()
    await memory.write([
      { change: 'session', session: { ...first, sessionKeyBase64: second.sessionKeyBase64 } },
    ])
    expect(await failureOf(store.listSessions())).toMatchObject(altered)
    await memory.write([{ change: 'session', session: first }])
    await expectWhole(store)
  })

  test('opens only in its own field', async () => {
    const { memory, store, first } = await sealedMemory()
    await memory.write([{ change: 'identity', identity: { ...identity, mnemonic: first.sessionKeyBase64 } }])
    expect(await failureOf(store.getIdentity())).toMatchObject(altered)
  })

  test('opens only with the public keys of its own record', async () => {
    const { memory, store, first } = await sealedMemory()
    const sealed = await memory.getIdentity()
    if (!sealed) throw new Error('no identity')
    const otherKey = check(PublicKey, `B${first.theirEcdhPublicKey.slice(1)}`)
    await memory.write([
      { change: 'session', session: { ...first, theirEcdhPublicKey: otherKey } },
      { change: 'identity', identity: { ...sealed, signingPublicKey: otherKey } },
    ])
    expect(await failureOf(store.listSessions())).toMatchObject(altered)
    expect(await failureOf(store.getIdentity())).toMatchObject(altered)
  })

  test('cannot be replaced by plain text, and does not open without its vault', async () => {
    const { memory, store } = await sealedMemory()
    const sealed = await memory.getIdentity()
    if (!sealed) throw new Error('no identity')
    await memory.write([{ change: 'identity', identity }])
    expect(await failureOf(store.getIdentity())).toMatchObject(altered)
    const stripped = new MemoryStore()
    await stripped.write([{ change: 'identity', identity: sealed }])
    const open = await SealedStore.open({ store: stripped, vaults: [], randomBytes })
    expect(await failureOf(open.getIdentity())).toMatchObject({ code: 'STORE_FAILED' })
  })

  test('does not open if any character is altered', async () => {
    const { memory, store, first } = await sealedMemory()
    for (let at = 0; at < first.sessionKeyBase64.length; at += 5) {
      const text = first.sessionKeyBase64
      const character = text[at] === 'A' ? 'B' : 'A'
      const sessionKeyBase64 = text.slice(0, at) + character + text.slice(at + 1)
      await memory.write([{ change: 'session', session: { ...first, sessionKeyBase64 } }])
      expect(await failureOf(store.listSessions())).toMatchObject(altered)
    }
  })
})

describe('a locked store', () => {
  test('refuses to read or write secrets, and reads and writes everything else', async () => {
    const memory = new MemoryStore()
    const store = await seal(memory)
    await store.write(everything)
    store.lock()
    expect(store.isLocked).toBe(true)
    const locked = { code: 'LOCKED' }
    expect(await failureOf(store.getIdentity())).toMatchObject(locked)
    expect(await failureOf(store.listSessions())).toMatchObject(locked)
    expect(await failureOf(store.protect())).toMatchObject(locked)
    for (const change of everything) expect(await failureOf(store.write([change]))).toMatchObject(locked)
    await store.write([{ change: 'message', message: messageOf({ id: 'a', seq: 1 }) }])
    expect((await store.listMessages(session.conversationId)).length).toBe(1)
    await store.unlock()
    await expectWhole(store)
  })

  test('does not open without a vault or with another key', async () => {
    const memory = new MemoryStore()
    await seal(memory)
    const open = (vault: Vault | undefined) =>
      SealedStore.open({ store: memory, vaults: vault ? [vault] : [], randomBytes })
    expect(await failureOf(open(undefined))).toMatchObject({ code: 'LOCKED' })
    expect(await failureOf(open(keyVault(randomBytes(32))))).toMatchObject({ code: 'STORE_FAILED' })
    expect(await failureOf(open(passphraseVault()))).toMatchObject({ code: 'STORE_FAILED' })
    expect(() => keyVault(new Uint8Array(16))).toThrow('32 random bytes')
  })
})

describe('a passphrase', () => {
  const open = (store: ClientStore) => seal(store, passphraseVault())

  test('opens the store that it sealed, another one does not, and after a change only the new one does', async () => {
    const folder = newFolder()
    const store = await open(await openFile(folder))
    expect([store.isSealed, store.isLocked]).toEqual([false, false])
    await store.write(everything)
    await store.protect('correct horse')
    await expectSealed(folder)
    await store.close()

    const plain = await openFile(folder)
    const again = await open(plain)
    expect(again.isLocked).toBe(true)
    const wrong = { code: 'WRONG_PASSPHRASE' }
    expect(await failureOf(again.unlock('Correct horse'))).toMatchObject(wrong)
    expect(await failureOf(again.unlock())).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(again.isLocked).toBe(true)
    await again.unlock('correct horse')
    await expectWhole(again)

    const sealedBefore = await plain.listSessions()
    const recordBefore = await plain.getVault()
    await again.protect('battery staple')
    expect(await plain.listSessions()).toEqual(sealedBefore)
    expect(await textOf(folder)).not.toContain(recordBefore?.wrappedKey ?? 'none')
    again.lock()
    expect(await failureOf(again.unlock('correct horse'))).toMatchObject(wrong)
    await again.unlock('battery staple')
    await expectWhole(again)
  }, 120_000)

  test('a vault record opens only with its own cost, and an invalid cost is refused before any derivation', async () => {
    const memory = new MemoryStore()
    const store = await open(memory)
    await store.protect('passphrase')
    store.lock()
    const record = await memory.getVault()
    if (record?.kind !== 'passphrase') throw new Error('no vault')
    expect(record).toMatchObject({ n: 131_072, r: 8, p: 1 })
    const damaged = 'the vault record was altered: this program never wrote it'
    const tampered: Partial<Extract<VaultRecord, { kind: 'passphrase' }>>[] = [
      { n: 1024 },
      { n: 2 ** 30 },
      { n: 2 ** 17 + 1 },
      { n: Number.NaN },
      { r: 1 },
      { r: 2 ** 20 },
      { p: 0 },
      { p: 1000 },
      { p: 1.5 },
      { salt: '' },
      { salt: 'not base64' },
      { salt: 'AAAA'.repeat(1_000_000) },
    ]
    for (const part of tampered) {
      await memory.write([{ change: 'vault', vault: { ...record, ...part } }])
      const again = await open(memory)
      const before = process.cpuUsage()
      expect(await failureOf(again.unlock('passphrase'))).toMatchObject({
        code: 'STORE_FAILED',
        message: damaged,
      })
      const { user, system } = process.cpuUsage(before)
      expect((user + system) / 1000).toBeLessThan(200)
    }
    // These values are within the bounds, but the derived key is not the wrapping key, or the wrapped key was
    // altered.
    for (const part of [
      { p: 2 },
      { wrappedKey: record.wrappedKey.replace(/^./, (c) => (c === 'A' ? 'B' : 'A')) },
    ]) {
      await memory.write([{ change: 'vault', vault: { ...record, ...part } }])
      expect(await failureOf((await open(memory)).unlock('passphrase'))).toMatchObject({
        code: 'WRONG_PASSPHRASE',
      })
    }
    await memory.write([{ change: 'vault', vault: record }])
    await (await open(memory)).unlock('passphrase')
  }, 120_000)

  test('a crash during a change of passphrase leaves the old passphrase or the new one', async () => {
    const folder = newFolder()
    const store = await open(await openFile(folder))
    await store.write(everything)
    await store.protect('old')
    await store.close()
    const log = join(folder, 'store.log')
    const before = await readFile(log)
    const changing = await open(await openFile(folder))
    await changing.unlock('old')
    await changing.protect('new')
    await changing.close()
    const after = await readFile(log)
    for (const [content, passphrase] of [
      [before, 'old'],
      [after, 'new'],
    ] as const) {
      await writeFile(log, content)
      await writeFile(`${log}.next`, after)
      await truncate(`${log}.next`, Math.floor(after.length / 2))
      const again = await open(await openFile(folder))
      await again.unlock(passphrase)
      await expectWhole(again)
      await again.close()
    }
  }, 120_000)
})
