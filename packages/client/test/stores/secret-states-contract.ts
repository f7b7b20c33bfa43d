// What secret states do on every kind of store, as a test suite.
import { expect, test } from 'bun:test'
import type { Erasure } from '../../src/stores/erasure-slots.ts'
import { openSlotsOf } from '../../src/stores/open-slots.ts'
import type { ClientStore } from '../../src/stores/store.ts'
import { bytes, openStates, RememberedBytes, StillClock, text } from './secret-states-world.ts'
import { conversationId, messageOf, type StoreUnderTest } from './store-contract.ts'

const state = (from: string | undefined, id = 'a') =>
  ({ kind: 'conversation', id, state: from === undefined ? undefined : bytes(from) }) as const

/** The slots that hold a key. */
async function usedSlots(store: ClientStore): Promise<number> {
  const slots = await openSlotsOf(store)
  const used = (await slots.read()).filter((slot) => slot.some((byte) => byte !== 0))
  await slots.close()
  return used.length
}

/** Declares the test suite. `open` opens an empty store. */
export function secretStatesContract(open: () => Promise<StoreUnderTest>, erasure: Erasure): void {
  test('a store without states holds none, and says where the key is', async () => {
    const { store } = await open()
    const states = await openStates(store)
    expect([states.outcome, states.erasure]).toEqual(['new', erasure])
    expect(await states.get('conversation', 'a')).toBeUndefined()
    expect(await states.list('conversation')).toEqual([])
    await states.close()
    expect(await usedSlots(store)).toBe(0)
  })

  test('states and changes are written together, and found after the store is opened again', async () => {
    const { store, reopen } = await open()
    const first = await openStates(store)
    await first.write([state('first')], [{ change: 'message', message: messageOf({ id: 'm', seq: 1 }) }])
    await first.write([state('second'), { kind: 'package', id: 'p', state: bytes('private') }])
    await first.write([state('other', 'b')], [], { rotates: true })
    expect(text(await first.get('conversation', 'a'))).toBe('second')
    await first.close()
    const again = await reopen()
    const states = await openStates(again)
    expect(states.outcome).toBe('opened')
    expect(text(await states.get('conversation', 'a'))).toBe('second')
    expect(text(await states.get('package', 'p'))).toBe('private')
    expect(text(await states.get('conversation', 'b'))).toBe('other')
    expect([...(await states.list('conversation'))].sort()).toEqual(['a', 'b'])
    expect(await states.list('package')).toEqual(['p'])
    expect((await again.listMessages(conversationId)).map(({ id }) => id)).toEqual(['m'])
    await states.close()
    expect(await usedSlots(again)).toBe(1)
  })

  test('a program that ends without closing loses nothing, and the next one rotates at once', async () => {
    const { store, reopen } = await open()
    const random = new RememberedBytes()
    const states = await openStates(store, { randomBytes: random.take })
    await states.write([state('first')])
    await states.write([state('kept')])
    await states.write([state('late', 'late')])
    await states.abandon()
    const slots = async (of: ClientStore): Promise<string> => {
      const opened = await openSlotsOf(of)
      const content = (await opened.read()).map((slot) => Buffer.from(slot).toString('hex')).join()
      await opened.close()
      return content
    }
    const before = await slots(store)
    expect(random.keys.some((key) => before.includes(Buffer.from(key).toString('hex')))).toBe(true)
    const again = await reopen()
    const next = await openStates(again)
    expect(text(await next.get('conversation', 'a'))).toBe('kept')
    expect(text(await next.get('conversation', 'late'))).toBe('late')
    const after = await slots(again)
    expect(random.keys.some((key) => after.includes(Buffer.from(key).toString('hex')))).toBe(false)
    await next.close()
  })

  test('a removed state is gone, and so are all states after `erase`', async () => {
    const { store, reopen } = await open()
    const states = await openStates(store)
    await states.write([state('one'), state('two', 'b')])
    await states.write([state(undefined)])
    expect(await states.get('conversation', 'a')).toBeUndefined()
    expect(text(await states.get('conversation', 'b'))).toBe('two')
    await states.erase([{ change: 'clear' }])
    expect(await states.list('conversation')).toEqual([])
    expect(await usedSlots(store)).toBe(0)
    await states.write([state('anew')])
    await states.close()
    const next = await openStates(await reopen())
    expect(text(await next.get('conversation', 'a'))).toBe('anew')
    expect(await next.get('conversation', 'b')).toBeUndefined()
    await next.close()
  })

  test('a state that was used gets a new key within a minute', async () => {
    const { store } = await open()
    const clock = new StillClock()
    const states = await openStates(store, { clock })
    await states.write([state('first')])
    await states.write([state('second')])
    const before = await store.findSecret('conversation a')
    clock.pass(59_999)
    await states.list('conversation')
    expect(await store.findSecret('conversation a')).toBe(before ?? '')
    clock.pass(1)
    await states.list('conversation')
    expect(await store.findSecret('conversation a')).not.toBe(before ?? '')
    expect(clock.waiting).toBe(0)
    expect(text(await states.get('conversation', 'a'))).toBe('second')
    await states.close()
  })

  test('an altered state is lost alone, and altered keys lose all', async () => {
    const { store, reopen } = await open()
    const states = await openStates(store)
    await states.write([state('one'), state('two', 'b')])
    await states.close()
    // The state of one conversation in the place of the other's.
    const value = await store.findSecret('conversation b')
    if (value === undefined) throw new Error('the state is not stored')
    await store.write([{ change: 'secret', name: 'conversation a', value }])
    const again = await reopen()
    const altered = await openStates(again)
    expect(await altered.get('conversation', 'a')).toBe('lost')
    expect(text(await altered.get('conversation', 'b'))).toBe('two')
    await altered.close()
    const slots = await openSlotsOf(again)
    const [first, second] = await slots.read()
    await slots.replace(
      0,
      first,
      first.map((byte) => byte ^ 1),
    )
    await slots.replace(
      1,
      second,
      second.map((byte) => byte ^ 1),
    )
    await slots.close()
    const lost = await openStates(again)
    expect([lost.outcome, await lost.list('conversation')]).toEqual(['lost', []])
    expect(await again.findSecret('conversation b')).toBeUndefined()
    await lost.write([state('rejoined')])
    expect(text(await lost.get('conversation', 'a'))).toBe('rejoined')
    await lost.close()
  })
}
