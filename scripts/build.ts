// `npm run build`: builds the package @sotto/client in packages/client/dist. With `app`, it builds the web
// app in packages/web/dist instead; with `relay`, the relay as one file in dist; with `deb`, also packages
// for Debian. `--public-key FILE` names the key (PEM) of who will sign them: see sign.ts.
import { parseArgs } from 'node:util'
import { buildApp } from './app-build.mjs'
import { buildClient } from './client-package/build.ts'
import { buildDebianPackages, buildRelay, type Order } from './relay-build/build.ts'
import { isForDebian } from './relay-build/debian-package.ts'
import { readPublicKey } from './relay-build/sign.ts'
import { readTargets, type Target } from './relay-build/targets.ts'

const { what, words, keyFile } = readWords()
if (what === undefined) await buildClient()
else if (what === 'app') buildApp()
else if (what === 'relay') await buildRelay(await order())
else if (what === 'deb') await buildDebianPackages(await order(isForDebian))
else refuse(`there is no "${what}" to build; say app, relay, deb, or nothing for the client library`)

function readWords() {
  try {
    const options = { 'public-key': { type: 'string' } } as const
    const { values, positionals } = parseArgs({ options, allowPositionals: true })
    return { what: positionals[0], words: positionals.slice(1), keyFile: values['public-key'] }
  } catch (error) {
    refuse(messageOf(error))
  }
}

async function order(isWanted: (target: Target) => boolean = () => true): Promise<Order> {
  try {
    const publicKey = keyFile === undefined ? undefined : await readPublicKey(keyFile)
    return { targets: readTargets(words).filter(isWanted), publicKey, print }
  } catch (error) {
    refuse(messageOf(error))
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function refuse(reason: string): never {
  process.stderr.write(`${reason}\n`)
  process.exit(2)
}
