// What the app knows about itself.

/** The version of this app. */
export interface AppVersion {
  readonly version: string
  /**
   * SHA-256, in hex, of all its files. It reveals accidents, such as a server with half an update; it cannot
   * reveal a server that wants to deceive, which could also serve another app that shows the right hash.
   */
  readonly hash: string
}

/** Reads the version. @throws TypeError if the app's own server cannot be reached or does not have it */
export async function readVersion(): Promise<AppVersion> {
  const answer = await fetch(new URL('version.json', document.baseURI))
  const found: unknown = await answer.json()
  if (!isVersion(found)) throw new TypeError('version.json does not name a version')
  return found
}

function isVersion(found: unknown): found is AppVersion {
  return (
    typeof found === 'object' &&
    found !== null &&
    'version' in found &&
    'hash' in found &&
    typeof found.version === 'string' &&
    typeof found.hash === 'string'
  )
}
