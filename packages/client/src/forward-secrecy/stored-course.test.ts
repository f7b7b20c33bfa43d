// A conversation's course among the secret states: what is written with a step, and what is read again.
import { expect, test } from 'bun:test'
import { openStates } from '../../test/stores/secret-states-world.ts'
import { type Course, newCourse } from '../secrecy/version-3/version-3.ts'
import { MemoryStore } from '../stores/memory-store.ts'
import type { SecretStates } from '../stores/secret-states.ts'
import type { StoreChange } from '../stores/stores.ts'
import { StoredCourse } from './stored-course.ts'

const CONVERSATION = '01890a5d-ac96-474b-bcce-b302099a8057'

/** A store that remembers the names of the secrets in its last write. */
class NamingStore extends MemoryStore {
  last: readonly string[] = []

  override async write(changes: readonly StoreChange[]): Promise<void> {
    this.last = changes.flatMap((each) => (each.change === 'secret' ? [each.name] : []))
    return super.write(changes)
  }
}

/** A course whose messages of these numbers nobody has acknowledged. */
function courseWith(first: number, last: number): Course {
  const all = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  return { ...newCourse(), sent: all.map(sentOf) }
}

const known = new Map<number, Course['sent'][number]>()

/** The same message for the same number, as the course has it from step to step. */
function sentOf(number: number): Course['sent'][number] {
  const made = known.get(number) ?? {
    ...{ id: crypto.randomUUID(), resends: undefined, number, era: 1, epoch: 1, mark: new Uint8Array(8) },
    ...{ previous: undefined, isAccepted: true, isHidden: false, at: number },
  }
  known.set(number, made)
  return made
}

/** The course that is stored. */
async function readFrom(stored: StoredCourse): Promise<Course> {
  const found = await stored.read()
  if (found === 'later_version') throw new Error('it is of this version')
  return found
}

async function write(states: SecretStates, stored: StoredCourse, course: Course): Promise<void> {
  const { updates, after } = stored.update(course)
  await states.write(updates)
  after()
}

const sentNames = (names: readonly string[]): readonly string[] =>
  names.filter((name) => name.startsWith(`sent ${CONVERSATION}`))

test('a block is written once, read in the next run, and removed with its last message', async () => {
  const store = new NamingStore()
  const states = await openStates(store)
  await states.write([{ kind: 'sent', id: 'another-conversation 1', state: Uint8Array.of(9) }])
  const stored = new StoredCourse(states, CONVERSATION)
  expect(await stored.read()).toEqual(newCourse())
  await write(states, stored, courseWith(1, 1000))
  expect(sentNames(store.last)).toHaveLength(7)
  await write(states, stored, courseWith(1, 1001))
  expect(store.last).toEqual([`conversation ${CONVERSATION}`])
  await states.close()

  const opened = await openStates(store)
  const next = new StoredCourse(opened, CONVERSATION)
  const course = await readFrom(next)
  expect(course).toEqual(courseWith(1, 1001))
  await write(opened, next, { ...course, ownSeq: 7 })
  expect(store.last.filter((name) => name !== 'used')).toEqual([`conversation ${CONVERSATION}`])
  await write(opened, next, { ...course, sent: course.sent.slice(900) })
  expect(await opened.list('sent')).toEqual(['another-conversation 1'])
  expect(await store.findSecret(`sent ${CONVERSATION} 1`)).toBeUndefined()
  await opened.close()
})

test('without its block that was altered, a course is read, and the block is replaced', async () => {
  const store = new NamingStore()
  const states = await openStates(store)
  const stored = new StoredCourse(states, CONVERSATION)
  await stored.read()
  await write(states, stored, courseWith(1, 400))
  const last = `sent ${CONVERSATION} 2`
  expect(sentNames(store.last)).toContain(last)
  await states.close()
  await store.write([{ change: 'secret', name: last, value: 'AAAA' }])

  const opened = await openStates(store)
  const next = new StoredCourse(opened, CONVERSATION)
  const course = await readFrom(next)
  const left = courseWith(1, 400).sent.filter(({ number }) => number <= 128 || number > 256)
  expect(course.sent).toEqual(left)
  const more = { ...course, sent: [...course.sent, ...courseWith(401, 500).sent] }
  await write(opened, next, more)
  expect(sentNames(store.last)).toContain(last)
  expect(await new StoredCourse(opened, CONVERSATION).read()).toEqual(more)
  await opened.close()
})

test('a course whose state is gone leaves no block behind', async () => {
  const store = new NamingStore()
  const states = await openStates(store)
  const stored = new StoredCourse(states, CONVERSATION)
  await stored.read()
  await write(states, stored, courseWith(1, 1000))
  await store.write([{ change: 'secret', name: `conversation ${CONVERSATION}`, value: 'AAAA' }])
  await states.close()

  const opened = await openStates(store)
  const next = new StoredCourse(opened, CONVERSATION)
  expect(await next.read()).toEqual(newCourse())
  await write(opened, next, newCourse())
  expect(await opened.list('sent')).toEqual([])
  await opened.close()
})

test('a course of a later version is left as it is, also if only a block is', async () => {
  const store = new NamingStore()
  const states = await openStates(store)
  const stored = new StoredCourse(states, CONVERSATION)
  await stored.read()
  await write(states, stored, courseWith(1, 400))
  await states.write([{ kind: 'sent', id: `${CONVERSATION} 1`, state: Uint8Array.of(99) }])
  expect(await new StoredCourse(states, CONVERSATION).read()).toBe('later_version')
  await states.write([{ kind: 'conversation', id: CONVERSATION, state: Uint8Array.of(99) }])
  expect(await new StoredCourse(states, CONVERSATION).read()).toBe('later_version')
  await states.close()
})
