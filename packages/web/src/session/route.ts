// Where the user is: the part of the address after `#`, such as `#/chats/<id>?at=<message>`. Only this part
// changes, so that the app works under any path of any server.
import { computed, signal } from '@preact/signals'
import { routeOf } from './route-of.ts'

const address = signal(location.hash)

/** The current place. */
export const route = computed(() => routeOf(address.value))

addEventListener('hashchange', () => {
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
    address.value = location.hash
  } else location.hash = to
}
