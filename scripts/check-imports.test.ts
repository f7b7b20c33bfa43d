// Each line that the import check holds, shown by a small tree that crosses it and one that does not.
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkTree } from './check-imports.ts'
import { scanSource } from './source-scanner.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** The violations of a tree made of these files; those named only by an import are made, empty. */
function check(files: Record<string, string>): string[] {
  const root = mkdtempSync(join(tmpdir(), 'sotto-imports-'))
  folders.push(root)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return checkTree(root)
}

const relay = (path: string) => `packages/relay/src/${path}`

describe('between packages', () => {
  test.each([
    ['protocol', '@sotto/crypto'],
    ['crypto', '@sotto/protocol'],
    ['client', '@sotto/relay'],
    ['relay', '@sotto/client'],
    ['relay', 'sotto'],
  ])('%s does not import %s', (own, other) => {
    const [violation, ...more] = check({ [`packages/${own}/src/a.ts`]: `\nimport { a } from '${other}'` })
    expect(violation).toStartWith(`packages/${own}/src/a.ts:2 imports ${other}: ${own} may import`)
    expect(more).toEqual([])
  })

  test.each([
    ['client', '@sotto/crypto'],
    ['relay', '@sotto/protocol'],
    ['cli', '@sotto/client/file-store'],
    ['cli', '@sotto/relay'],
  ])('%s may import %s', (own, other) => {
    expect(check({ [`packages/${own}/src/a.ts`]: `import { a } from '${other}'` })).toEqual([])
  })

  test('a test may import any package', () => {
    expect(check({ 'packages/client/test/flow.test.ts': "import { start } from '@sotto/relay'" })).toEqual([])
  })

  test('a relative import stays within its package', () => {
    const text = "export { a } from '../../protocol/src/a.ts'"
    expect(check({ 'packages/relay/src/a.ts': text, 'packages/protocol/src/a.ts': '' })).toEqual([
      'packages/relay/src/a.ts:1 imports ../../protocol/src/a.ts: a relative import stays within its package',
    ])
  })

  test('a test may reach what tests share, in another package or beside the packages', () => {
    const text = "import '../../relay/test/server.ts'\nimport vectors from '../../../vectors/a.json'"
    expect(check({ 'packages/client/src/a.test.ts': text, 'packages/relay/test/server.ts': '' })).toEqual([])
    expect(check({ 'packages/client/src/a.ts': text })).toHaveLength(2)
  })
})

describe('what runs in browsers', () => {
  test.each(['node:fs', 'fs', 'bun', 'bun:sqlite'])('does not import %s', (name) => {
    for (const own of ['client', 'crypto', 'protocol']) {
      expect(check({ [`packages/${own}/src/a.ts`]: `import * as x from '${name}'` })).toEqual([
        `packages/${own}/src/a.ts:1 imports ${name}: ${own} runs in browsers: nothing of Bun or Node`,
      ])
    }
  })

  test('but the file store, tests, and what is not portable may', () => {
    const text = "import { open } from 'node:fs'"
    expect(
      check({
        'packages/client/src/stores/file-store.ts': text,
        'packages/crypto/src/a.test.ts': text,
        'packages/relay/src/main.ts': text,
      }),
    ).toEqual([])
  })
})

describe("between the relay's rooms", () => {
  test('the listener and the gateway know no feature, not even its types', () => {
    for (const room of ['listener', 'gateway']) {
      const text = "import type { Friends } from '../friends/friends.ts'"
      expect(check({ [relay(`${room}/a.ts`)]: text, [relay('friends/friends.ts')]: '' })).toEqual([
        `${relay(`${room}/a.ts`)}:1 imports ../friends/friends.ts: ${room} knows no feature: features register with it`,
      ])
    }
  })

  test('a feature knows another only by its public file', () => {
    const files = { [relay('friends/friends.ts')]: '', [relay('friends/queries.ts')]: '' }
    const importing = (path: string) =>
      check({ ...files, [relay('messages/a.ts')]: `import { a } from '${path}'` })
    expect(importing('../friends/friends.ts')).toEqual([])
    expect(importing('../friends/queries.ts')).toEqual([
      `${relay('messages/a.ts')}:1 imports ../friends/queries.ts: friends is known to others only by friends/friends.ts`,
    ])
  })

  test('storage and cluster are known only by their interfaces', () => {
    const files = {
      [relay('storage/storage.ts')]: '',
      [relay('storage/sqlite.ts')]: '',
      [relay('cluster/bus.ts')]: '',
      [relay('cluster/nats.ts')]: '',
    }
    const importing = (path: string) =>
      check({ ...files, [relay('messages/a.ts')]: `import { a } from '${path}'` })
    expect(importing('../storage/storage.ts')).toEqual([])
    expect(importing('../cluster/bus.ts')).toEqual([])
    expect(importing('../storage/sqlite.ts')[0]).toContain(
      'storage is known to others only by storage/storage.ts',
    )
    expect(importing('../cluster/nats.ts')[0]).toContain('cluster is known to others only by cluster/bus.ts')
  })

  test('tests, main.ts and relay.ts see every room', () => {
    const text = (dots: string) =>
      `import { a } from '${dots}/storage/sqlite.ts'\nimport '${dots}/friends/routes.ts'`
    expect(
      check({
        [relay('main.ts')]: text('.'),
        [relay('relay.ts')]: text('.'),
        [relay('messages/a.test.ts')]: text('..'),
        [relay('storage/sqlite.ts')]: '',
        [relay('friends/routes.ts')]: '',
      }),
    ).toEqual([])
  })

  test('config.ts and relay.ts are imported at the top only, elsewhere their types', () => {
    const files = { [relay('config.ts')]: '', [relay('relay.ts')]: "import { a } from './config.ts'" }
    const importing = (text: string) => check({ ...files, [relay('gateway/a.ts')]: text })
    expect(importing("import type { Config } from '../config.ts'")).toEqual([])
    expect(importing("import { config } from '../config.ts'")[0]).toContain(
      'only main.ts, relay.ts, operator.ts and tests import',
    )
    expect(importing("import { relay } from '../relay.ts'")[0]).toContain(
      'only main.ts and tests import relay.ts',
    )
  })
})

describe('what is passed in', () => {
  test.each([
    ['process.env.PORT', 'config.ts'],
    ['Bun.env', 'config.ts'],
    ['Date.now()', 'operations/clock.ts'],
    ['new Date()', 'operations/clock.ts'],
  ])('%s is used in %s alone', (use, allowed) => {
    expect(check({ [relay('a.ts')]: `\nexport const a = ${use}` })[0]).toStartWith(`${relay('a.ts')}:2 uses `)
    expect(check({ [relay(allowed)]: `export const a = ${use}` })).toEqual([])
    expect(check({ [relay('a.test.ts')]: `export const a = ${use}` })).toEqual([])
    expect(check({ 'packages/cli/src/a.ts': `export const a = ${use}` })).toEqual([])
  })

  test.each(['Math.random()', 'console.log(1)'])('%s is used in no library', (use) => {
    for (const own of ['client', 'crypto', 'protocol', 'relay']) {
      expect(check({ [`packages/${own}/src/a.ts`]: use })).toHaveLength(1)
    }
  })

  test('a date made from a given time is not the time of day', () => {
    expect(check({ [relay('a.ts')]: 'export const a = (ms: number) => new Date(ms)' })).toEqual([])
  })

  test('words in comments, strings, templates and regular expressions are not uses', () => {
    const text = [
      '// Date.now() and console.log',
      'const a = \'process.env\' + "Math.random"',
      'const b = `console.log ${`Date.now ${1}`} process.env`',
      "const c = /[\"'`]console.log/.test(a) // it's",
      '/* process.env */',
    ].join('\n')
    expect(check({ [relay('a.ts')]: text })).toEqual([])
  })

  test('a use within a template is one', () => {
    expect(check({ [relay('a.ts')]: 'const a = `{${{ b: Date.now() }.b}`' })).toHaveLength(1)
  })
})

describe('cycles', () => {
  test('files do not import each other in a circle', () => {
    const circle = { [relay('a.ts')]: "import './b.ts'", [relay('b.ts')]: "import './c.ts'" }
    expect(check({ ...circle, [relay('c.ts')]: "import './a.ts'" })).toEqual([
      `${relay('c.ts')}:1 imports ./a.ts: closes a cycle, ${['a', 'b', 'c', 'a'].map((name) => relay(`${name}.ts`)).join(' → ')}`,
    ])
  })

  test('types may', () => {
    const files = { [relay('a.ts')]: "import { b } from './b.ts'" }
    expect(check({ ...files, [relay('b.ts')]: "import type { A } from './a.ts'" })).toEqual([])
  })
})

test('every form of import is seen, with its line', () => {
  const text = `import a from 'one'
import type { B } from 'two'
import {
  c,
  type D,
} from "three"
export * from 'four'
export type { E } from 'five'
import 'six'
const f = await import('seven')
import type, { g } from 'eight'
export interface H { from: string }
import * as i from 'nine' // import 'not this'
const j = "import 'nor this'"`
  expect(
    scanSource(text).imports.map(({ specifier, line, isTypeOnly }) => [line, specifier, isTypeOnly]),
  ).toEqual([
    [1, 'one', false],
    [2, 'two', true],
    [3, 'three', false],
    [7, 'four', false],
    [8, 'five', true],
    [9, 'six', false],
    [10, 'seven', false],
    [11, 'eight', false],
    [13, 'nine', false],
  ])
})
