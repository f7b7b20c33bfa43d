// The rule of the app's policy for scripts: an exact list.

/** Passes the addresses of a list, and throws a TypeError for every other one. */
export function onlyThese(addresses: readonly string[]): (url: string) => string {
  return (url) => {
    if (addresses.includes(url)) return url
    throw new TypeError(`${url} is no script of this app`)
  }
}
