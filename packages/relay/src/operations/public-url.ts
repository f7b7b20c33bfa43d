// The relay's address for clients. It may have a path, which a proxy in front of the relay removes.

/** An address below the relay's own. @param path begins with a slash @param publicUrl ends with a slash */
export function addressBelow(publicUrl: URL | string, path: string): string {
  return new URL(`.${path}`, publicUrl).href
}

/** The relay's address as people write it: without a slash at its end. */
export function publicAddress({ origin, pathname }: URL): string {
  return origin + pathname.replace(/\/$/, '')
}
