// A relay in each place blobs can be kept in, with two people who use it.
import { beforeAll, describe } from 'bun:test'
import { type MediaPlace, mediaPlaces } from './media-stores.ts'
import { MediaAccount } from './media-wire.ts'
import { type UsedRelay, useRelayWith } from './use-relay.ts'

/** What the tests of one place have. */
export interface MediaWorld {
  readonly place: MediaPlace
  readonly relay: UsedRelay
  readonly alice: MediaAccount
  readonly bob: MediaAccount
}

/** The same promises wherever blobs are kept. */
export function inEveryPlace(promises: (world: MediaWorld) => void): void {
  for (const place of mediaPlaces) {
    describe(`in ${place.name}`, () => {
      const relay = useRelayWith(() => place.environment())
      const people: MediaAccount[] = []
      beforeAll(async () => {
        people.push(await MediaAccount.make(relay.url), await MediaAccount.make(relay.url))
      })
      const person = (at: number): MediaAccount => {
        const there = people[at]
        if (!there) throw new Error('nobody is there yet')
        return there
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
