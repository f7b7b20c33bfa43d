// That the app has the same policy wherever it is served: by the relay, by the hosts of plain files for which
// there are header files, and by its own page where no headers are sent.
import { expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startRelay } from '@sotto/relay/testing'
import { builtApp } from './built-app.ts'

const WEB = join(import.meta.dir, '..')

/** What a policy in `<meta>` cannot say. */
const HEADER_ONLY = "frame-ancestors 'none'"

function directives(policy: string): string[] {
  return policy
    .split(';')
    .map((directive) => directive.trim())
    .sort()
}

function without(list: readonly string[], ...names: readonly string[]): string[] {
  return list.filter((directive) => !names.some((name) => directive.startsWith(name)))
}

test('the policy of every host is that of the relay, except that it allows other relays', async () => {
  const relay = await startRelay({ env: { APP_DIR: builtApp() } })
  const { headers } = await fetch(relay.url, { headers: { accept: 'text/html' } })
  await relay.stop()
  const policy = headers.get('content-security-policy') ?? ''
  const ofRelay = without(directives(policy), 'connect-src')
  expect(ofRelay).toContain("script-src 'self'")

  const page = await readFile(join(WEB, 'index.html'), 'utf8')
  const meta = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1] ?? ''
  expect(without(directives(meta), 'connect-src')).toEqual(without(ofRelay, HEADER_ONLY))

  for (const name of ['_headers', 'Caddyfile', 'nginx.conf']) {
    const text = await readFile(join(WEB, 'hosting', name), 'utf8')
    const found = /Content-Security-Policy:? "?([^"\n]+)/.exec(text)?.[1] ?? ''
    expect([name, without(directives(found), 'connect-src')]).toEqual([name, ofRelay])
    for (const header of [
      ...['permissions-policy', 'cross-origin-opener-policy', 'cross-origin-resource-policy'],
      ...['x-content-type-options', 'x-frame-options', 'referrer-policy'],
    ])
      expect(text.toLowerCase()).toMatch(
        new RegExp(
          `${header}:? "?${RegExp.escape((headers.get(header) ?? 'nothing').toLowerCase())}["; a-z]*\n`,
        ),
      )
  }
})
