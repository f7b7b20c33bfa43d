// The start, waits and errors in Arabic, in both sizes and themes: axe-core finds no barrier.
// `testBarriers` expects it.
import { testBarriers } from './barriers.ts'
import { tourOfWaits } from './tour-waits.ts'

testBarriers('nothing at the start, in a wait or after an error has a barrier', 'ar', tourOfWaits)
