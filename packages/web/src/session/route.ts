// Where the user is: the part of the address after `#`, such as `#/chats/<id>?at=<message>`. Only this part
// changes, so that the app works under any path of any server.
import { computed, signal } from '@preact/signals'
import { routeOf } from './route-of.ts'

const address = signal(location.hash)
/** How many times the user has gone to another place. */
let moves = 0

/** The current place. */
export const route = computed(() => routeOf(address.value))

addEventListener('hashchange', () => {
  moves += 1
  address.value = location.hash
})

/** The address of a place, for links: `href('chats', id)`. */
export function href(...parts: readonly string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`
}

/** Goes to an address that `href` made. `replace` leaves no step back. */
export function go(to: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(null, '', to)
    moves += 1
    address.value = location.hash
  } else location.hash = to
}

/**
 * For work that ends at another place. Remembers where the user is when the work begins. The returned
 * function is `go`, and does nothing if the user has gone elsewhere meanwhile, because a late answer must
 * take nobody away.
 */
export function goFromHere(): typeof go {
  const [place, count] = [location.hash, moves]
  return (to, options) => {
    // The event of a new address comes later than the address.
    if (location.hash === place && moves === count) go(to, options)
  }
}
