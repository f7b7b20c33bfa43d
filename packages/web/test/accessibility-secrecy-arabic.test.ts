// What is said of forward secrecy in Arabic, in both sizes and themes: axe-core finds no barrier.
import { testBarriers } from './barriers.ts'
import { tourOfSecrecy } from './tour-secrecy.ts'

testBarriers('nothing that is said of forward secrecy has a barrier', 'ar', tourOfSecrecy)
