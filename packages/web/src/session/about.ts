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

/** A package of others that is a part of the app. */
export interface Licence {
  readonly name: string
  readonly version: string
  /** As the package names it, such as `MIT`. */
  readonly licence: string
  readonly text: string
}

/** Reads the licences, which the build lists. @throws TypeError as `readVersion` */
export async function readLicences(): Promise<readonly Licence[]> {
  const answer = await fetch(new URL('licences.json', document.baseURI))
  const found: unknown = await answer.json()
  if (!Array.isArray(found) || !found.every(isLicence)) throw new TypeError('licences.json lists no licences')
  return found
}

function isLicence(found: unknown): found is Licence {
  const names = ['name', 'version', 'licence', 'text']
  return (
    typeof found === 'object' &&
    found !== null &&
    names.every((name) => typeof Reflect.get(found, name) === 'string')
  )
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
