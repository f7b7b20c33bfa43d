// Event streams: a reader gets an error if events were lost, and every loop ends.
import { expect, test } from 'bun:test'
import { Emitter } from './emitter.ts'

async function read<T>(stream: AsyncIterable<T>): Promise<{ events: T[]; error?: unknown }> {
  const events: T[] = []
  try {
    for await (const event of stream) events.push(event)
    return { events }
  } catch (error) {
    return { events, error }
  }
}

test('a loop gets the events from before and during it in order, until the client is closed', async () => {
  const emitter = new Emitter()
  const stream = emitter.stream('network_state', {})
  emitter.emit('network_state', 'connecting')
  const all = read(stream)
  await Promise.resolve()
  emitter.emit('network_state', 'connected')
  emitter.emit('synced', { count: 1 })
  emitter.emit('network_state', 'disconnected')
  emitter.end()
  expect(await all).toEqual({ events: ['connecting', 'connected', 'disconnected'] })
})

test('a reader that is too slow gets the buffered events, and then an error', async () => {
  const emitter = new Emitter()
  const stream = emitter.stream('synced', { limit: 2 })
  for (let count = 1; count <= 4; count += 1) emitter.emit('synced', { count })
  const { events, error } = await read(stream)
  expect(events).toEqual([{ count: 1 }, { count: 2 }])
  expect(error).toMatchObject({ code: 'EVENTS_LOST' })
  expect(await stream.next()).toEqual({ done: true, value: undefined })
})

test('a signal ends a waiting loop, and a loop that has not begun', async () => {
  const emitter = new Emitter()
  const abort = new AbortController()
  const waiting = read(emitter.stream('synced', { signal: abort.signal }))
  const unread = emitter.stream('synced', { signal: abort.signal })
  emitter.emit('synced', { count: 1 })
  await Bun.sleep(1)
  abort.abort()
  expect(await waiting).toEqual({ events: [{ count: 1 }] })
  expect(await read(unread)).toEqual({ events: [] })
  expect(await read(emitter.stream('synced', { signal: abort.signal }))).toEqual({ events: [] })
})

test('leaving the loop ends the stream, and the stream keeps no more events', async () => {
  const emitter = new Emitter()
  const stream = emitter.stream('synced', {})
  emitter.emit('synced', { count: 1 })
  emitter.emit('synced', { count: 2 })
  for await (const { count } of stream) {
    expect(count).toBe(1)
    break
  }
  emitter.emit('synced', { count: 3 })
  expect(await stream.next()).toEqual({ done: true, value: undefined })
})

test('two streams each get every event', async () => {
  const emitter = new Emitter()
  const streams = [emitter.stream('synced', {}), emitter.stream('synced', {})]
  emitter.emit('synced', { count: 7 })
  emitter.end()
  for (const stream of streams) expect(await read(stream)).toEqual({ events: [{ count: 7 }] })
})

test('an invalid limit is refused', () => {
  for (const limit of [0, -1, 1.5, Number.NaN])
    expect(() => new Emitter().stream('synced', { limit })).toThrow('whole number from 1')
})
