// An example of an application's service worker.
import { showPushes } from '../src/push/push-worker.ts'

showPushes(
  ({ type, hasVisiblePage }) => {
    const title = type === 'call' ? 'Somebody calls' : 'New messages'
    return { title, body: hasVisiblePage ? 'look here' : 'look there' }
  },
  { page: '/inbox' },
)
