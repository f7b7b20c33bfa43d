// Every screen in English, in both themes: axe-core finds no barrier.
import { expect, test } from 'bun:test'
import { barriersOnTour } from './axe.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

test.each(['light', 'dark'] as const)(
  'no screen has a barrier in the %s theme',
  async (theme) => {
    expect(await barriersOnTour(world, { language: 'en', theme })).toEqual([])
  },
  300_000,
)
