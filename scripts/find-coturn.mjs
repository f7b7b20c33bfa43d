// Finds coturn, the TURN server the tests of calls start; used to install it as well.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

// The folder that holds `turnserver` and `turnutils_uclient`. COTURN_BIN, when set, is the only one looked at.
export function findCoturn(env = process.env) {
  const folders = env.COTURN_BIN ? [env.COTURN_BIN] : [...(env.PATH ?? '').split(delimiter), '/usr/bin']
  return folders.find((folder) => folder !== '' && hasPrograms(folder))
}

function hasPrograms(folder) {
  try {
    for (const name of ['turnserver', 'turnutils_uclient']) accessSync(join(folder, name), constants.X_OK)
    return true
  } catch {
    return false
  }
}
