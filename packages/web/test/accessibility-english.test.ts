// Every screen in English, on a phone and a desktop, in both themes: axe-core finds no barrier.
import { testBarriers } from './barriers.ts'
import { PLACES, tour } from './tour.ts'

testBarriers('no screen has a barrier', 'en', tour, PLACES)
