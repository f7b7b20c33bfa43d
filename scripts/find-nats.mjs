// Finds nats-server, which the tests of many nodes start. The installation uses it too.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

// The program `nats-server`. If NATS_BIN is set, only that folder is checked. Debian puts it into /usr/sbin,
// which is not on every user's PATH.
export function findNats(env = process.env) {
  const folders = env.NATS_BIN ? [env.NATS_BIN] : [...(env.PATH ?? '').split(delimiter), '/usr/sbin']
  return folders.map((folder) => join(folder, 'nats-server')).find(isProgram)
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
