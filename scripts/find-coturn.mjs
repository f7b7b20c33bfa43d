// Finds coturn, the TURN server that the tests of calls start. The installation uses it too.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

// The folder that holds `turnserver` and `turnutils_uclient`. If COTURN_BIN is set, only that folder is
// checked.
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
