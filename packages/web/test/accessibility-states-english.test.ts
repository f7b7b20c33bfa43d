// Empty, unknown and locked screens in English, in both sizes and themes: axe-core finds no barrier.
// `testBarriers` expects it.
import { testBarriers } from './barriers.ts'
import { tourOfStates } from './tour-states.ts'

testBarriers('no empty, unknown or locked screen has a barrier', 'en', tourOfStates)
