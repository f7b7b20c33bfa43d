// The sealed store: the store contract on what it wraps, and what must be true of the secrets beneath it.
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check, PublicKey } from '@sotto/protocol'
import { FileStore } from './file-store.ts'
import { keyVault } from './key-vault.ts'
import { MemoryStore } from './memory-store.ts'
import { passphraseVault } from './passphrase-vault.ts'
import type { SessionRecord, VaultRecord } from './records.ts'
import { SealedStore } from './sealed-store.ts'
import type { ClientStore } from './store.ts'
import { identity, messageOf, otherConversationId, session, storeContract } from './store-contract.ts'
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
  storeContract(async () => {
    const store = new MemoryStore()
    const sealed = await seal(store)
    const reopen = async () => {
      await sealed.close()
      store.reopen()
      return seal(store)
    }
    return { store: sealed, reopen }
  })
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

/** All that lies in a folder, as text. */
async function textOf(folder: string): Promise<string> {
  const names = await readdir(folder)
  return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('\n')
}

async function expectSealed(folder: string): Promise<void> {
  const text = await textOf(folder)
  for (const secret of secrets) expect(text).not.toContain(secret)
  expect(text).toContain('sealed:1:')
  // Not the bytes of a key in another form either, nor two words of the phrase in a row.
  expect(text).not.toContain(Buffer.from(session.sessionKeyBase64, 'base64').toString('hex'))
  expect(text).not.toContain(Buffer.from(session.sessionKeyBase64, 'base64').toString('latin1'))
  expect(text).not.toContain('abandon abandon')
}

async function expectWhole(store: ClientStore): Promise<void> {
  expect(await store.getIdentity()).toEqual(identity)
  expect(await store.listSessions()).toEqual([session, other])
}

describe('what lies in the store', () => {
  test('holds neither phrase nor session keys', async () => {
    const folder = newFolder()
    const store = await seal(await openFile(folder))
    await store.write(everything)
    await expectSealed(folder)
    await expectWhole(store)
    expect(await textOf(folder)).not.toContain(Buffer.from(key).toString('base64'))
  })

  test('a store that was open is sealed in one write, and keeps nothing plain', async () => {
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

  test('a crash in the sealing leaves all of it or none', async () => {
    const folder = newFolder()
    const plain = await openFile(folder)
    await plain.write(everything)
    await plain.close()
    const before = await readFile(join(folder, 'store.log'))
    const sealed = await seal(await openFile(folder))
    await sealed.close()
    const after = await readFile(join(folder, 'store.log'))
    // The new file as far as it came, beside the old one; at last in its place.
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

  test('what is written while the store is being sealed is sealed as well, and not undone', async () => {
    // At every moment of it there is.
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

  test('another identity, taken after everything was cleared, is sealed as well', async () => {
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
  /** A sealed store over memory, and the memory to tamper with. */
  async function sealedMemory() {
    const memory = new MemoryStore()
    const store = await seal(memory)
    await store.write(everything)
    const [first, second] = await memory.listSessions()
    if (!first || !second) throw new Error('no sessions')
    return { memory, store, first, second }
  }
  const altered = { code: 'STORE_FAILED', message: 'a sealed secret was altered, or moved from its record' }

  test('opens in its own record only', async () => {
    const { memory, store, first, second } = await sealedMemory()
    await memory.write([
      { change: 'session', session: { ...first, sessionKeyBase64: second.sessionKeyBase64 } },
    ])
    await expect(store.listSessions()).rejects.toMatchObject(altered)
    await memory.write([{ change: 'session', session: first }])
    await expectWhole(store)
  })

  test('opens in its own field only', async () => {
    const { memory, store, first } = await sealedMemory()
    await memory.write([{ change: 'identity', identity: { ...identity, mnemonic: first.sessionKeyBase64 } }])
    await expect(store.getIdentity()).rejects.toMatchObject(altered)
  })

  test('opens beside its own public keys only', async () => {
    const { memory, store, first } = await sealedMemory()
    const sealed = await memory.getIdentity()
    if (!sealed) throw new Error('no identity')
    const otherKey = check(PublicKey, `B${first.theirEcdhPublicKey.slice(1)}`)
    await memory.write([
      { change: 'session', session: { ...first, theirEcdhPublicKey: otherKey } },
      { change: 'identity', identity: { ...sealed, signingPublicKey: otherKey } },
    ])
    await expect(store.listSessions()).rejects.toMatchObject(altered)
    await expect(store.getIdentity()).rejects.toMatchObject(altered)
  })

  test('is not replaced by plain text, and does not open without its vault', async () => {
    const { memory, store } = await sealedMemory()
    const sealed = await memory.getIdentity()
    if (!sealed) throw new Error('no identity')
    await memory.write([{ change: 'identity', identity }])
    await expect(store.getIdentity()).rejects.toMatchObject(altered)
    const stripped = new MemoryStore()
    await stripped.write([{ change: 'identity', identity: sealed }])
    const open = await SealedStore.open({ store: stripped, vaults: [], randomBytes })
    await expect(open.getIdentity()).rejects.toMatchObject({ code: 'STORE_FAILED' })
  })

  test('altered in any character, it does not open', async () => {
    const { memory, store, first } = await sealedMemory()
    for (let at = 0; at < first.sessionKeyBase64.length; at += 5) {
      const text = first.sessionKeyBase64
      const character = text[at] === 'A' ? 'B' : 'A'
      const sessionKeyBase64 = text.slice(0, at) + character + text.slice(at + 1)
      await memory.write([{ change: 'session', session: { ...first, sessionKeyBase64 } }])
      await expect(store.listSessions()).rejects.toMatchObject(altered)
    }
  })
})

describe('locked', () => {
  test('secrets can be neither read nor written, and everything else can', async () => {
    const memory = new MemoryStore()
    const store = await seal(memory)
    await store.write(everything)
    store.lock()
    expect(store.isLocked).toBe(true)
    const locked = { code: 'LOCKED' }
    await expect(store.getIdentity()).rejects.toMatchObject(locked)
    await expect(store.listSessions()).rejects.toMatchObject(locked)
    await expect(store.protect()).rejects.toMatchObject(locked)
    for (const change of everything) await expect(store.write([change])).rejects.toMatchObject(locked)
    await store.write([{ change: 'message', message: messageOf({ id: 'a', seq: 1 }) }])
    expect((await store.listMessages(session.conversationId)).length).toBe(1)
    await store.unlock()
    await expectWhole(store)
  })

  test('a sealed store is not opened without a vault, nor by the key of another', async () => {
    const memory = new MemoryStore()
    await seal(memory)
    const open = (vault: Vault | undefined) =>
      SealedStore.open({ store: memory, vaults: vault ? [vault] : [], randomBytes })
    await expect(open(undefined)).rejects.toMatchObject({ code: 'LOCKED' })
    await expect(open(keyVault(randomBytes(32)))).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await expect(open(passphraseVault())).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(() => keyVault(new Uint8Array(16))).toThrow('32 random bytes')
  })
})

describe('a passphrase', () => {
  const open = (store: ClientStore) => seal(store, passphraseVault())

  test('opens what it sealed, no other does, and a changed one is the only one', async () => {
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
    await expect(again.unlock('Correct horse')).rejects.toMatchObject(wrong)
    await expect(again.unlock()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(again.isLocked).toBe(true)
    await again.unlock('correct horse')
    await expectWhole(again)

    const sealedBefore = await plain.listSessions()
    const recordBefore = await plain.getVault()
    await again.protect('battery staple')
    expect(await plain.listSessions()).toEqual(sealedBefore)
    expect(await textOf(folder)).not.toContain(recordBefore?.wrappedKey ?? 'none')
    again.lock()
    await expect(again.unlock('correct horse')).rejects.toMatchObject(wrong)
    await again.unlock('battery staple')
    await expectWhole(again)
  }, 120_000)

  test('a record is bound to its cost, and none makes the device work or wait beyond reason', async () => {
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
      await expect(again.unlock('passphrase')).rejects.toMatchObject({
        code: 'STORE_FAILED',
        message: damaged,
      })
      const { user, system } = process.cpuUsage(before)
      expect((user + system) / 1000).toBeLessThan(200)
    }
    // Within bounds and yet another: the key that comes out is not the one that wrapped, or the record is not as it was.
    for (const part of [
      { p: 2 },
      { wrappedKey: record.wrappedKey.replace(/^./, (c) => (c === 'A' ? 'B' : 'A')) },
    ]) {
      await memory.write([{ change: 'vault', vault: { ...record, ...part } }])
      await expect((await open(memory)).unlock('passphrase')).rejects.toMatchObject({
        code: 'WRONG_PASSPHRASE',
      })
    }
    await memory.write([{ change: 'vault', vault: record }])
    await (await open(memory)).unlock('passphrase')
  }, 120_000)

  test('a change of passphrase cut short by a crash leaves the old one or the new one', async () => {
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
