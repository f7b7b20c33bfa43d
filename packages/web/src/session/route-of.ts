// Reads an address of the app.

/** A place in the app. */
export interface Route {
  /** The parts of the path: the destination, then what is open in it. */
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

/** The most characters of an address that is read: a link may contain anything. The app's own are shorter. */
const MAX_CHARACTERS = 4000

const NOWHERE: Route = { path: [], query: {} }

/** The place that an address names. What is too long or cannot be decoded is no place. */
export function routeOf(hash: string): Route {
  if (hash.length > MAX_CHARACTERS) return NOWHERE
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  try {
    return {
      path: path.split('/').filter(Boolean).map(decodeURIComponent),
      query: Object.fromEntries(new URLSearchParams(query)),
    }
  } catch {
    return NOWHERE
  }
}
