// Two people with the app talk until their messages have forward secrecy.
import { expect } from 'bun:test'
import type { AppPerson } from './app-person.ts'

/** More rounds than it takes to announce, to begin and to answer. */
const MOST_ROUNDS = 12

/** The version that a message of this device was sent under, by its text; 1 for the one without a number. */
export async function versionOf(person: AppPerson, text: string): Promise<number> {
  return person.page.evaluate(
    (wanted) =>
      new Promise<number>((resolve, reject) => {
        const opening = indexedDB.open('sotto')
        opening.onerror = () => reject(opening.error)
        opening.onsuccess = () => {
          const database = opening.result
          const reading = database.transaction('messages').objectStore('messages').getAll()
          reading.onerror = () => reject(reading.error)
          reading.onsuccess = () => {
            database.close()
            const found = reading.result.find(({ message }) => message.text === wanted)
            if (found) resolve(found.message.version ?? 1)
            else reject(new Error(`no message says ${wanted}`))
          }
        }
      }),
    text,
  )
}

/** Somebody writes, and the other one reads it. Both have opened the conversation. */
export async function says(from: AppPerson, to: AppPerson, text: string): Promise<number> {
  await from.writes(text)
  await to.sees(text)
  const versions = [await versionOf(from, text), await versionOf(to, text)]
  expect(versions[0]).toBe(versions[1] ?? 0)
  return versions[0] ?? 0
}

/** Two people talk until both write under version 3. */
export async function talkUntilSecret(one: AppPerson, other: AppPerson): Promise<void> {
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    const versions = [
      await says(one, other, `round ${round} of ${one.name}`),
      await says(other, one, `round ${round} of ${other.name}`),
    ]
    if (versions.every((version) => version === 3)) return
  }
  throw new Error(`no forward secrecy after ${MOST_ROUNDS} rounds`)
}
