// The admin page in English, on a phone and a desktop, in both themes: axe-core finds no barrier.
// `testAdminBarriers` expects it.
// `testAdminBarriers` expects it.
import { testAdminBarriers } from './admin-barriers.ts'

testAdminBarriers('no page of the admin page has a barrier', 'en')
