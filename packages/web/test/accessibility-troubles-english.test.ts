// Errors, questions and the lock in English, in both sizes and themes: axe-core finds no barrier.
import { testBarriers } from './barriers.ts'
import { tourOfTroubles } from './tour-troubles.ts'

testBarriers('nothing that goes wrong or asks has a barrier', 'en', tourOfTroubles)
