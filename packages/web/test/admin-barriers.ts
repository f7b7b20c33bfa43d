// The frame of the tests for accessibility of the admin page: one tour in one language.
import { expect, test } from 'bun:test'
import { fillRelay, tourOfAdmin } from './admin-tour.ts'
import { useAdminStage } from './admin-world.ts'
import { Barriers } from './axe.ts'

/** A tour is long, and a machine may be busy. */
const TOUR_MS = 600_000

/** Makes the test of this name that a tour in a language meets no barrier. */
export function testAdminBarriers(name: string, language: 'en' | 'ar'): void {
  const stage = useAdminStage({ MANUAL_PAY_TO: 'the till' })
  test(
    name,
    async () => {
      await fillRelay(stage)
      const barriers = new Barriers()
      const screen = language === 'en' ? 'desktop' : 'phone'
      await tourOfAdmin(stage, { language, screen }, (operator, page) => barriers.lookAt(operator, page))
      expect(barriers.found).toEqual([])
      expect(barriers.seen).toContain('left')
    },
    TOUR_MS,
  )
}
