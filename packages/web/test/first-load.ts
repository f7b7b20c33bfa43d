// What a new user's browser loads until the first message is sent: a new account is made, somebody added, a
// conversation opened, and a text sent.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { Person, until } from '../../client/test/people.ts'
import { AppPerson } from './app-person.ts'
import { builtApp } from './built-app.ts'

/** A file of the app, and its sizes after compression, in bytes. */
interface LoadedFile {
  readonly path: string
  readonly gzip: number
  readonly brotli: number
}

/** What was loaded, and what the browser complained about. */
interface FirstLoad {
  /** The largest first. */
  readonly files: readonly LoadedFile[]
  readonly complaints: readonly string[]
}

/** Has a new user send a first message. @param url of a relay that serves the built app */
export async function firstLoad(browser: Browser, url: string): Promise<FirstLoad> {
  const context = await browser.newContext(AppPerson.settings({}))
  const asked: string[] = []
  // What the service worker loads for later visits is its own.
  context.on('request', (request) => {
    if (!request.serviceWorker()) asked.push(request.url())
  })
  const alice = new AppPerson('Alice', context, url)
  const bob = await Person.join('Bob', url)
  await alice.comes()
  await alice.registers()
  await alice.asksForFriendship(bob.alias)
  const request = await until('Bob gets the request', () => bob.heard.friend_request[0])
  await bob.client.acceptFriend(request.friendship_id)
  await alice.follows(alice.t.common.chats)
  await alice.opens('Bob')
  await alice.writes('The first message')
  await bob.receives('The first message')
  const files = await filesOf(asked)
  await context.close()
  await bob.client.close()
  return { files, complaints: alice.complaints }
}

/** The app's files that a page has asked for, also those that its service worker had. */
async function filesOf(urls: Iterable<string>): Promise<readonly LoadedFile[]> {
  const paths = new Set([...urls].map((url) => new URL(url).pathname.slice(1) || 'index.html'))
  const files: LoadedFile[] = []
  for (const path of paths) {
    const bytes = await readFile(join(builtApp(), path)).catch(() => undefined)
    // Anything else is an answer of the relay.
    if (!bytes) continue
    files.push({ path, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotliCompressSync(bytes).length })
  }
  return files.sort((a, b) => b.gzip - a.gzip)
}
