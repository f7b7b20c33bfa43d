// The entry of the package for applications whose messages have forward secrecy.
import { provideForwardSecrecy } from './provided.ts'

/**
 * The value of the option `forwardSecrecy`. What it needs is a script of its own, which a client loads when a
 * conversation needs it.
 */
export function forwardSecrecy(): true {
  provideForwardSecrecy(() => import('./forward-secrecy.ts'))
  return true
}
