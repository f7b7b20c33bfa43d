// `npm run verify-app -- <url>`: compares the app that a server serves with the app of this checkout, byte by
// byte. The build gives the same bytes everywhere, so a difference is another version or another app.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { appFolder, ensureAppOrExit } from './app-build.mjs'
import { filesIn, sha256 } from './web-app/finish-build.ts'

/** A file that is not served as it should be. */
export interface Difference {
  readonly path: string
  readonly what: string
}

/** Compares what is served at a URL with the app in a folder. @throws TypeError if there is no server */
export async function differencesAt(url: string, folder: string): Promise<Difference[]> {
  const base = url.endsWith('/') ? url : `${url}/`
  const found: Difference[] = []
  for (const { path, hash } of await filesIn(folder)) {
    const address = new URL(path === 'index.html' ? './' : path, base)
    const answer = await fetch(address, {
      cache: 'no-store',
      headers: { accept: path === 'index.html' ? 'text/html' : '*/*' },
    })
    const bytes = new Uint8Array(await answer.arrayBuffer())
    if (answer.redirected) found.push({ path, what: `leads to ${answer.url}` })
    else if (!answer.ok) found.push({ path, what: `is not there: the server answers ${answer.status}` })
    else if (sha256(bytes) !== hash) found.push({ path, what: await describe(bytes, join(folder, path)) })
  }
  return found
}

async function describe(bytes: Uint8Array, file: string): Promise<string> {
  const own = await readFile(file)
  const at = own.findIndex((byte, index) => byte !== bytes[index])
  const where = at === -1 ? own.length : at
  return `differs: ${bytes.length} bytes instead of ${own.length}, the first difference is at byte ${where}`
}

if (import.meta.main) {
  const url = process.argv[2]
  if (url === undefined || !URL.canParse(url)) {
    console.error('Usage: npm run verify-app -- https://relay.example')
    process.exit(2)
  }
  ensureAppOrExit()
  const { version, hash } = JSON.parse(await readFile(join(appFolder, 'version.json'), 'utf8'))
  console.log(`This checkout: Sotto ${version}, ${hash}`)
  const differences = await differencesAt(url, appFolder)
  for (const { path, what } of differences) console.log(`${path} ${what}`)
  console.log(
    differences.length === 0
      ? `${url} serves the same app.`
      : `${url} does not serve this app: ${differences.length} files differ. It may be of another version; compare with a checkout of that version.`,
  )
  process.exitCode = differences.length === 0 ? 0 : 1
}
