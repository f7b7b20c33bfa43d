// A relay for each place that can store blobs, with two accounts that use it.
import { beforeAll, describe } from 'bun:test'
import { type MediaPlace, mediaPlaces } from './media-stores.ts'
import { MediaAccount } from './media-wire.ts'
import { type UsedRelay, useRelayWith } from './use-relay.ts'

/** The relay and the accounts for the tests of one place. */
export interface MediaWorld {
  readonly place: MediaPlace
  readonly relay: UsedRelay
  readonly alice: MediaAccount
  readonly bob: MediaAccount
}

/** Runs the same tests in every place that can store blobs. */
export function inEveryPlace(promises: (world: MediaWorld) => void): void {
  for (const place of mediaPlaces) {
    describe(`in ${place.name}`, () => {
      const relay = useRelayWith(() => place.environment())
      const people: MediaAccount[] = []
      beforeAll(async () => {
        people.push(await MediaAccount.make(relay.url), await MediaAccount.make(relay.url))
      })
      const person = (at: number): MediaAccount => {
        const account = people[at]
        if (!account) throw new Error('the accounts do not exist yet')
        return account
      }
      promises({
        place,
        relay,
        get alice() {
          return person(0)
        },
        get bob() {
          return person(1)
        },
      })
    })
  }
}
