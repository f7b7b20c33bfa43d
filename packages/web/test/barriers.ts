// The frame of the tests for accessibility: one tour of the app in one language, in which axe-core looks at
// each place, on a phone and a desktop, in both themes; and what is cut off, covered, or too small is found.
import { expect, test } from 'bun:test'
import type { AppStage } from './app-stage.ts'
import { Barriers } from './axe.ts'
import type { PersonOptions } from './browser-person.ts'
import type { Look } from './tour.ts'
import { AppWorld } from './world.ts'

/** A tour is long, and a machine may be busy. */
const TOUR_MS = 600_000

/** The language of a tour, and the screen that it begins on. Each place is looked at on both. */
const OPTIONS = {
  en: { language: 'en', screen: 'desktop' },
  ar: { language: 'ar', screen: 'phone' },
} as const satisfies Record<NonNullable<PersonOptions['language']>, PersonOptions>

/** Makes the test of this name that a tour in a language meets no barrier. @param places that it must show */
export function testBarriers(
  name: string,
  language: keyof typeof OPTIONS,
  tour: (stage: AppStage, options: PersonOptions, look: Look) => Promise<void>,
  places: readonly string[] = [],
): void {
  const world = new AppWorld({}, { keepsApp: true })
  test(
    name,
    async () => {
      const barriers = new Barriers()
      await tour(world, OPTIONS[language], barriers.look)
      expect(barriers.found).toEqual([])
      expect(barriers.seen).toEqual(expect.arrayContaining([...places]))
    },
    TOUR_MS,
  )
}
