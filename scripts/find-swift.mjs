// Finds the programs of OpenStack Swift, the S3-compatible store of the tests. The installation uses it too.
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

const programs = ['proxy', 'account', 'container', 'object'].map((kind) => `swift-${kind}-server`)

// The folder that holds them. If SWIFT_BIN is set, only that folder is checked.
export function findSwift(env = process.env) {
  return [env.SWIFT_BIN || '/usr/bin'].find((folder) => {
    try {
      for (const name of programs) accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
