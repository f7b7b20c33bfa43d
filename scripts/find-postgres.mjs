// Finds the programs of a PostgreSQL server that is new enough. The installation and the tests use it.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export const oldestPostgres = 15

// The folder that holds `initdb` and `postgres`. If PG_BIN is set, only that folder is checked.
export function findPostgres(env = process.env) {
  const folders = env.PG_BIN ? [env.PG_BIN] : [...(env.PATH ?? '').split(delimiter), ...debianFolders()]
  return folders.find((folder) => folder !== '' && isServer(folder))
}

// Debian keeps the server's programs outside the PATH, in one folder per major version.
function debianFolders() {
  try {
    const versions = readdirSync('/usr/lib/postgresql').sort((a, b) => Number(b) - Number(a))
    return versions.map((version) => `/usr/lib/postgresql/${version}/bin`)
  } catch {
    return []
  }
}

function isServer(folder) {
  try {
    for (const name of ['initdb', 'postgres']) accessSync(join(folder, name), constants.X_OK)
  } catch {
    return false
  }
  const { stdout } = spawnSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' })
  const version = /(\d+)/.exec(stdout ?? '')?.[1]
  return version !== undefined && Number(version) >= oldestPostgres
}
