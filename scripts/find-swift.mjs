// Finds the programs of OpenStack Swift, the S3-compatible store the tests run; used to install it and by those tests.
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

const programs = ['proxy', 'account', 'container', 'object'].map((kind) => `swift-${kind}-server`)

// The folder that holds them. SWIFT_BIN, when set, is the only one looked at.
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
