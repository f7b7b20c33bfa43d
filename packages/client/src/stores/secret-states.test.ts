// Secret states: what a power cut at any step leaves, what a copy of the store opens, and who may erase.
import { afterAll, describe, expect, test } from 'bun:test'
import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failureOf } from '../../../protocol/test/failure-of.ts'
import {
  bytes,
  openStates,
  Power,
  PowerCut,
  RememberedBytes,
  StillClock,
  stolenState,
  text,
} from '../../test/stores/secret-states-world.ts'
import { conversationId, identity, messageOf } from '../../test/stores/store-contract.ts'
import type { ClientError } from '../client-error.ts'
import { grantSlots, KEYRING } from './erasure-slots.ts'
import { FileStore } from './file-store.ts'
import { keyVault } from './key-vault.ts'
import { openKeys, openState, readKeyring, sealKeyring, sealState } from './keyring.ts'
import { MemoryStore } from './memory-store.ts'
import { openSlotsOf } from './open-slots.ts'
import { SealedStore } from './sealed-store.ts'
import { ROTATE_AFTER_MS, type SecretUpdate } from './secret-states.ts'
import type { ClientStore } from './store.ts'

const root = await mkdtemp(join(tmpdir(), 'sotto-secrets-'))
let folders = 0
const newFolder = () => join(root, String(++folders))
afterAll(() => rm(root, { recursive: true }))

const state = (from: string, id = 'a'): SecretUpdate => ({ kind: 'conversation', id, state: bytes(from) })
const message = (id: string, seq: number) => ({ change: 'message', message: messageOf({ id, seq }) }) as const

/** Whether a slot of the store holds one of these keys. */
async function slotsHold(store: ClientStore, keys: readonly Uint8Array[]): Promise<boolean> {
  const slots = await openSlotsOf(store)
  const content = await slots.read()
  await slots.close()
  return keys.some((key) => content.some((slot) => Buffer.from(slot).equals(key)))
}

/** Whether an error is a power cut, or came of one. */
function isPowerCut(error: unknown): boolean {
  return error instanceof PowerCut || (error instanceof Error && isPowerCut(error.cause))
}

describe('a power cut', () => {
  /**
   * Writes states and messages of the same number together, with rotations. Returns the number of the last
   * write that resolved, and the power cuts that nobody waited for.
   */
  async function work(store: ClientStore, power: Power, random = new RememberedBytes()): Promise<number> {
    let last = 0
    try {
      const states = await openStates(power.store(store), {
        randomBytes: random.take,
        onFailure: (error) => expect(isPowerCut(error)).toBe(true),
      })
      for (let at = 1; at <= 5; at += 1) {
        await states.write([state(`${at}`), state('same', 'b')], [message(`m${at}`, at)], {
          rotates: at === 3,
        })
        last = at
        if (at === 4) await states.rotate()
      }
      await states.close()
    } catch (error) {
      if (!isPowerCut(error)) throw error
    }
    return last
  }

  /** Checks that nothing is lost, that state and message agree, and that no former key is left. */
  async function expectWhole(store: ClientStore, last: number, random: RememberedBytes): Promise<void> {
    const states = await openStates(store)
    const stored = (await store.listMessages(conversationId)).length
    expect(states.outcome).toBe(stored === 0 ? 'new' : 'opened')
    // A write that did not resolve may be stored, but not half of it.
    expect([last, last + 1]).toContain(stored)
    expect(text(await states.get('conversation', 'a'))).toBe(stored === 0 ? undefined : `${stored}`)
    expect(text(await states.get('conversation', 'b'))).toBe(stored === 0 ? undefined : 'same')
    // It goes on as if nothing had happened.
    await states.write([state('next')], [message('next', 9)])
    await states.close()
    expect(await slotsHold(store, random.keys)).toBe(false)
    const again = await openStates(store)
    expect(text(await again.get('conversation', 'a'))).toBe('next')
    await again.close()
  }

  test('at any step loses no state, tears none from its message, and leaves no former key', async () => {
    const whole = new Power()
    expect(await work(new MemoryStore(), whole)).toBe(5)
    expect(whole.steps.filter((step) => step === 'erase')).toHaveLength(3)
    expect(whole.steps.filter((step) => step === 'key')).toHaveLength(4)
    for (const isStepDone of [false, true]) {
      for (let cutAt = 0; cutAt < whole.steps.length; cutAt += 1) {
        const [store, random] = [new MemoryStore(), new RememberedBytes()]
        const last = await work(store, new Power(cutAt, isStepDone), random)
        await expectWhole(store, last, random)
      }
    }
  })

  test('at a step of the rotation with which the next opening begins loses nothing either', async () => {
    const prepared = async () => {
      const [store, random] = [new MemoryStore(), new RememberedBytes()]
      const states = await openStates(store, { randomBytes: random.take })
      await states.write([state('1'), state('same', 'b')], [message('m1', 1)])
      await states.write([state('2')], [message('m2', 2)])
      await states.abandon()
      return { store, random }
    }
    for (const isStepDone of [false, true]) {
      for (let cutAt = 0; cutAt < 3; cutAt += 1) {
        const { store, random } = await prepared()
        const power = new Power(cutAt, isStepDone)
        const onFailure = (error: ClientError) => expect(isPowerCut(error)).toBe(true)
        await openStates(power.store(store), { randomBytes: random.take, onFailure }).then(
          (states) => states.abandon(),
          (error: unknown) => expect(isPowerCut(error)).toBe(true),
        )
        expect(power.steps).toEqual(['key', 'write', 'erase'].slice(0, cutAt + 1))
        await expectWhole(store, 2, random)
      }
    }
  })

  test('that tears a slot loses nothing', async () => {
    const store = new MemoryStore()
    const states = await openStates(store)
    await states.write([state('1')])
    await states.abandon()
    const slots = await openSlotsOf(store)
    const [free] = await slots.read()
    await slots.replace(0, free, new Uint8Array(32).fill(7, 0, 11))
    await slots.close()
    const again = await openStates(store)
    expect([again.outcome, text(await again.get('conversation', 'a'))]).toEqual(['opened', '1'])
    await again.write([state('2')], [], { rotates: true })
    expect(text(await again.get('conversation', 'a'))).toBe('2')
    await again.close()
  })
})

describe('a copy of the folder', () => {
  test('opens no state from before the last rotation, with all that is written later', async () => {
    const folder = newFolder()
    const store = await FileStore.open(folder)
    const random = new RememberedBytes()
    const states = await openStates(store, { randomBytes: random.take })
    const written: { readonly keyring: string | undefined; readonly sealed: string | undefined }[] = []
    for (let at = 0; at < 6; at += 1) {
      await states.write([state(`state ${at}`)], [], { rotates: at === 4 })
      const [keyring, sealed] = await Promise.all(
        [KEYRING, 'conversation a'].map((name) => store.findSecret(name)),
      )
      written.push({ keyring, sealed })
    }
    // The thief's copy, with what the log keeps of every former record.
    const stolen = newFolder()
    await cp(folder, stolen, { recursive: true })
    await rm(join(stolen, 'lock'))
    const log = await readFile(join(stolen, 'store.log'), 'utf8')
    const copy = await FileStore.open(stolen)
    const slots = await openSlotsOf(copy)
    const erasureKeys = [...(await slots.read())]
    await slots.close()
    await states.write([state('later')], [], { rotates: true })
    for (const later of await openSlotsOf(store).then(async (opened) => {
      const content = await opened.read()
      await opened.close()
      return content
    }))
      erasureKeys.push(later)
    const opened: (string | undefined)[] = []
    for (const { sealed } of written) {
      expect(log).toContain(sealed ?? 'no state')
      let found: string | undefined
      for (const { keyring } of written)
        found ??= await stolenState(async () => keyring, erasureKeys, 'conversation a', sealed ?? '')
      opened.push(found)
    }
    // Number 4 was written by the last rotation before the copy. Only it and what followed opens.
    expect(opened).toEqual([undefined, undefined, undefined, undefined, 'state 4', 'state 5'])
    await copy.close()
    await states.close()
    await store.close()
    const everything = Buffer.concat(
      await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name)))),
    )
    const present = random.keys.filter((key) => holds(everything, key))
    expect(present).toHaveLength(1)
  })

  test('without the file of the key has lost its states, and says so', async () => {
    const folder = newFolder()
    const store = await FileStore.open(folder)
    const states = await openStates(store)
    await states.write([state('1')], [message('m', 1)])
    await states.close()
    await store.close()
    await rm(join(folder, 'erasure.key'))
    const again = await FileStore.open(folder)
    const lost = await openStates(again)
    expect([lost.outcome, await lost.get('conversation', 'a')]).toEqual(['lost', undefined])
    expect(await again.listMessages(conversationId)).toHaveLength(1)
    await lost.close()
    await again.close()
  })
})

/** Whether a file holds a key, as bytes or as text. */
function holds(file: Buffer, key: Uint8Array): boolean {
  const bytes = Buffer.from(key)
  return [bytes, bytes.toString('base64'), bytes.toString('hex')].some((form) => file.includes(form))
}

describe('a failure that may pass', () => {
  test('of the slots is thrown, and nothing is overwritten', async () => {
    const store = new MemoryStore()
    const states = await openStates(store)
    await states.write([state('1')])
    await states.abandon()
    const failing = { findSecret: (name: string) => store.findSecret(name), write: store.write.bind(store) }
    grantSlots(failing, {
      open: async () => {
        const slots = await openSlotsOf(store)
        return { ...slots, read: () => Promise.reject(new Error('input/output error')) }
      },
    })
    expect(await failureOf(openStates(failing))).toMatchObject({
      code: 'STORE_FAILED',
      message: 'input/output error',
    })
    // Such as a browser that has no files today.
    const others = { findSecret: failing.findSecret, write: failing.write }
    grantSlots(others, { open: async () => ({ ...(await openSlotsOf(store)), kind: 'opfs' }) })
    expect(await failureOf(openStates(others))).toMatchObject({
      code: 'STORE_FAILED',
      message: 'the erasure key is kept in memory, which is not here',
    })
    const again = await openStates(store)
    expect([again.outcome, text(await again.get('conversation', 'a'))]).toEqual(['opened', '1'])
    await again.close()
  })

  test('of erasing is told, and the next rotation erases', async () => {
    const [store, random, clock] = [new MemoryStore(), new RememberedBytes(), new StillClock()]
    const told: ClientError[] = []
    let fails = false
    const faulty = { findSecret: (name: string) => store.findSecret(name), write: store.write.bind(store) }
    grantSlots(faulty, {
      open: async () => {
        const slots = await openSlotsOf(store)
        const replace: typeof slots.replace = (slot, before, after) =>
          fails && after.every((byte) => byte === 0)
            ? Promise.reject(new Error('input/output error'))
            : slots.replace(slot, before, after)
        return { ...slots, replace }
      },
    })
    const onFailure = (error: ClientError) => told.push(error)
    const states = await openStates(faulty, { randomBytes: random.take, clock, onFailure })
    await states.write([state('1')])
    const former = [...random.keys]
    fails = true
    await states.write([state('2')], [], { rotates: true })
    expect(told.map(({ message }) => message)).toEqual(['input/output error'])
    expect(await slotsHold(store, former)).toBe(true)
    fails = false
    clock.pass(ROTATE_AFTER_MS)
    expect(text(await states.get('conversation', 'a'))).toBe('2')
    expect(await slotsHold(store, former)).toBe(false)
    await states.close()
  })

  test('of a write refuses all that follows', async () => {
    const store = new MemoryStore()
    let fails = false
    const write = (...changes: Parameters<ClientStore['write']>) =>
      fails ? Promise.reject(new Error('full')) : store.write(...changes)
    const states = await openStates(store, { write })
    await states.write([state('1')])
    fails = true
    expect(await failureOf(states.write([state('2')]))).toMatchObject({ message: 'full' })
    fails = false
    expect(await failureOf(states.write([state('3')]))).toMatchObject({ code: 'STORE_FAILED' })
    await states.abandon()
    const again = await openStates(store)
    expect(text(await again.get('conversation', 'a'))).toBe('1')
    await again.close()
  })
})

test('a client that was frozen in a rotation cannot erase the key of the client that took over', async () => {
  const store = new MemoryStore()
  const first = await openStates(store)
  await first.write([state('1')])
  await first.abandon()
  const frozen = Promise.withResolvers<void>()
  const isErasing = Promise.withResolvers<void>()
  const slow = { findSecret: (name: string) => store.findSecret(name), write: store.write.bind(store) }
  grantSlots(slow, {
    open: async () => {
      const slots = await openSlotsOf(store)
      const replace: typeof slots.replace = async (slot, before, after) => {
        if (after.every((byte) => byte === 0)) {
          isErasing.resolve()
          await frozen.promise
        }
        return slots.replace(slot, before, after)
      }
      return { ...slots, replace }
    },
  })
  const told: ClientError[] = []
  const old = await openStates(slow, { onFailure: (error) => told.push(error) })
  const rotating = old.rotate()
  await isErasing.promise
  // The next client erases for it, and goes on to the slot that the frozen one is about to erase.
  const next = await openStates(store)
  await next.write([state('2')], [], { rotates: true })
  frozen.resolve()
  await rotating
  expect(told).toMatchObject([{ code: 'STORE_LOCKED' }])
  await old.abandon()
  await next.close()
  const again = await openStates(store)
  expect([again.outcome, text(await again.get('conversation', 'a'))]).toEqual(['opened', '2'])
  await again.close()
})

test('a state opens only under its own name, and a keyring only as that of its generation', async () => {
  const { take } = new RememberedBytes()
  const [key, other] = [take(32), take(32)]
  const sealed = await sealState(key, 'conversation a', bytes('state'), take)
  expect(text(await openState(key, 'conversation a', sealed))).toBe('state')
  expect(await openState(key, 'conversation b', sealed)).toBeUndefined()
  const value = await sealKeyring(key, { erasure: 'file', generation: 3 }, new Map([['a', other]]), take)
  const keyring = readKeyring(value)
  if (!keyring) throw new Error('no keyring')
  expect((await openKeys(key, keyring))?.get('a')).toEqual(other)
  expect(await openKeys(key, { ...keyring, generation: 5 })).toBeUndefined()
  expect(await openKeys(key, { ...keyring, erasure: 'opfs' })).toBeUndefined()
  expect(await openKeys(other, keyring)).toBeUndefined()
  for (const none of ['', '{}', '[]', 'null', value.replace('3', '0')])
    expect(readKeyring(none)).toBeUndefined()
})

describe('a sealed store', () => {
  const randomBytes = new RememberedBytes().take
  const key = randomBytes(32)
  const seal = (store: ClientStore, isSealed = true) =>
    SealedStore.open({ store, vaults: isSealed ? [keyVault(key)] : [], randomBytes })

  test('seals the keyring and no state again, also what was stored before it', async () => {
    const store = new MemoryStore()
    const plain = await openStates(store)
    await plain.write([state('1')], [{ change: 'identity', identity }])
    await plain.close()
    expect(await store.findSecret(KEYRING)).toContain('"erasure":"memory"')
    const before = await store.findSecret('conversation a')
    const sealed = await seal(store)
    expect(await store.findSecret(KEYRING)).toStartWith('sealed:1:')
    expect(await store.findSecret('conversation a')).toBe(before ?? '')
    const states = await openStates(sealed)
    expect(text(await states.get('conversation', 'a'))).toBe('1')
    await states.write([state('2')], [], { rotates: true })
    expect(await store.findSecret(KEYRING)).toStartWith('sealed:1:')
    await states.close()
  })

  test('that is locked gives out no keyring, and loses nothing', async () => {
    const store = new MemoryStore()
    const sealed = await seal(store)
    const states = await openStates(sealed)
    await states.write([state('1')])
    sealed.lock()
    expect(await failureOf(openStates(sealed))).toMatchObject({ code: 'LOCKED' })
    expect(await failureOf(states.rotate())).toMatchObject({ code: 'LOCKED' })
    await states.abandon()
    await sealed.unlock()
    const again = await openStates(sealed)
    expect([again.outcome, text(await again.get('conversation', 'a'))]).toEqual(['opened', '1'])
    await again.close()
  })

  test('with a plain keyring was altered', async () => {
    const store = new MemoryStore()
    const sealed = await seal(store)
    await store.write([{ change: 'secret', name: KEYRING, value: '{}' }])
    expect(await failureOf(openStates(sealed))).toMatchObject({ code: 'STORE_FAILED' })
  })
})

describe('the file of the key', () => {
  test('keeps its size and its place, is the owner’s alone, and is completed if its first write was cut', async () => {
    const folder = newFolder()
    const path = join(folder, 'erasure.key')
    const store = await FileStore.open(folder)
    const states = await openStates(store)
    await states.write([state('1')])
    const { ino, size, mode } = await Bun.file(path).stat()
    expect([size, mode & 0o777]).toEqual([8192, 0o600])
    for (let at = 0; at < 3; at += 1) await states.write([state('2')], [], { rotates: true })
    expect(await Bun.file(path).stat()).toMatchObject({ ino, size })
    await states.close()
    await store.close()
    const other = newFolder()
    const begun = await FileStore.open(other)
    for (const cut of [0, 31, 4096, 8191]) {
      await writeFile(join(other, 'erasure.key'), '')
      await truncate(join(other, 'erasure.key'), cut)
      const slots = await openSlotsOf(begun)
      expect((await slots.read()).every((slot) => slot.every((byte) => byte === 0))).toBe(true)
      await slots.close()
      expect((await readFile(join(other, 'erasure.key'))).length).toBe(8192)
    }
    await begun.close()
  })
})
