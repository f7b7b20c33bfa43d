// The page that makes calls, for people who have forward secrecy.
import { forwardSecrecy } from '../../src/forward-secrecy/entry.ts'

forwardSecrecy()
await import('./calls-app.ts')
