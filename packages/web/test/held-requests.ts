// Requests that are under way for as long as a test wants, as on a slow line.
import type { BrowserPerson } from './browser-person.ts'

interface Held {
  /** Resolves when the first request is held. */
  readonly isHeld: Promise<void>
  /** Lets the requests go on, and those that come later. */
  release(): void
}

/** Holds a person's requests to these addresses from now on. */
export async function holdRequests(person: BrowserPerson, address: RegExp): Promise<Held> {
  const held = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await person.context.route(address, async (route) => {
    held.resolve()
    await released.promise
    await route.continue()
  })
  return { isHeld: held.promise, release: released.resolve }
}
