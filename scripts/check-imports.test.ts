// Each rule of the import check: a small tree of files that breaks it, and one that does not.
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkTree } from './check-imports.ts'
import { readSource } from './source-reader.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** The violations in a tree of these files. */
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

  test('a test may import the helpers of tests in other packages, and files beside the packages', () => {
    const text = "import '../../relay/test/server.ts'\nimport vectors from '../../../vectors/a.json'"
    expect(check({ 'packages/client/src/a.test.ts': text, 'packages/relay/test/server.ts': '' })).toEqual([])
    expect(check({ 'packages/client/src/a.ts': text })).toHaveLength(2)
  })
})

describe('a package that runs in browsers', () => {
  test.each(['node:fs', 'fs', 'bun', 'bun:sqlite'])('does not import %s', (name) => {
    for (const own of ['client', 'crypto', 'protocol']) {
      expect(check({ [`packages/${own}/src/a.ts`]: `import * as x from '${name}'` })).toEqual([
        `packages/${own}/src/a.ts:1 imports ${name}: ${own} runs in browsers: nothing of Bun or Node`,
      ])
    }
  })

  test('but its file store, its tests, and the other packages may', () => {
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
  test('a room imports nothing from a floor above, not even types', () => {
    const importing = (room: string, path: string) =>
      check({ [relay(`${room}/a.ts`)]: `import type { A } from '${path}'` })
    expect(importing('gateway', '../friends/friends.ts')).toEqual([
      `${relay('gateway/a.ts')}:1 imports ../friends/friends.ts: an arrow up: friends stands above gateway`,
    ])
    expect(importing('friends', '../config.ts')[0]).toEndWith('an arrow up: config.ts stands above friends')
    expect(importing('friends', '../gateway/gateway.ts')).toEqual([])
  })

  test('rooms on one floor do not import each other', () => {
    const text = "import { a } from '../vanity/vanity.ts'"
    expect(check({ [relay('channels/a.ts')]: text })).toEqual([
      `${relay('channels/a.ts')}:1 imports ../vanity/vanity.ts: channels and vanity share a floor: neither imports the other`,
    ])
  })

  test('a new room needs a floor', () => {
    expect(check({ [relay('attic/a.ts')]: "import { a } from '../gateway/gateway.ts'" })).toEqual([
      `${relay('attic/a.ts')}:1 imports ../gateway/gateway.ts: attic has no floor in scripts/import-rules.ts`,
    ])
  })

  test('a feature imports only the public file of another', () => {
    const importing = (path: string) => check({ [relay('calls/a.ts')]: `import { a } from '${path}'` })
    expect(importing('../friends/friends.ts')).toEqual([])
    expect(importing('../friends/queries.ts')).toEqual([
      `${relay('calls/a.ts')}:1 imports ../friends/queries.ts: friends is known to others only by friends/friends.ts`,
    ])
  })

  test('only the interfaces of storage and cluster are imported', () => {
    const importing = (path: string) => check({ [relay('messages/a.ts')]: `import { a } from '${path}'` })
    expect(importing('../storage/storage.ts')).toEqual([])
    expect(importing('../cluster/bus.ts')).toEqual([])
    expect(importing('../storage/sqlite.ts')[0]).toContain(
      'storage is known to others only by storage/storage.ts',
    )
    expect(importing('../cluster/nats.ts')[0]).toContain('cluster is known to others only by cluster/bus.ts')
  })

  test('tests, main.ts and relay.ts may import every file', () => {
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
})

describe("between the client's rooms", () => {
  const client = (path: string) => `packages/client/src/${path}`

  test('a room imports nothing from a floor above, not even types', () => {
    const text = "import type { Engine } from '../engine.ts'"
    expect(check({ [client('events/a.ts')]: text })).toEqual([
      `${client('events/a.ts')}:1 imports ../engine.ts: an arrow up: engine.ts stands above events`,
    ])
    expect(check({ [client('calls/a.ts')]: text })).toEqual([])
  })

  test('only the public file of a room is imported, also by files outside of rooms', () => {
    const importing = (path: string) => check({ [client('engine.ts')]: `import { a } from '${path}'` })
    expect(importing('./messages/messages.ts')).toEqual([])
    expect(importing('./messages/outbox.ts')).toEqual([
      `${client('engine.ts')}:1 imports ./messages/outbox.ts: messages is known to others only by messages/messages.ts`,
    ])
  })
})

describe('time, randomness and the environment are passed in', () => {
  test.each([
    ['process.env.PORT', 'config.ts'],
    ['Bun.env', 'config.ts'],
    ['Date.now()', 'operations/clock.ts'],
    ['new Date()', 'operations/clock.ts'],
  ])('%s is used only in %s', (use, allowed) => {
    expect(check({ [relay('a.ts')]: `\nexport const a = ${use}` })[0]).toStartWith(`${relay('a.ts')}:2 uses `)
    expect(check({ [relay(allowed)]: `export const a = ${use}` })).toEqual([])
    expect(check({ [relay('a.test.ts')]: `export const a = ${use}` })).toEqual([])
    expect(check({ 'packages/cli/src/a.ts': `export const a = ${use}` })).toEqual([])
  })

  test('Math.random() is used in no library', () => {
    for (const own of ['client', 'crypto', 'protocol', 'relay']) {
      expect(check({ [`packages/${own}/src/a.ts`]: 'Math.random()' })).toHaveLength(1)
    }
  })

  test('a date made from a given time does not count as reading the clock', () => {
    expect(check({ [relay('a.ts')]: 'export const a = (ms: number) => new Date(ms)' })).toEqual([])
  })

  test('words in comments, strings, templates and regular expressions do not count as uses', () => {
    const text = [
      '// Date.now() and Math.random',
      'const a = \'process.env\' + "Math.random"',
      'const b = `Math.random ${`Date.now ${1}`} process.env`',
      "const c = /[\"'`]Date.now/.test(a) // it's",
      '/* process.env */',
    ].join('\n')
    expect(check({ [relay('a.ts')]: text })).toEqual([])
  })

  test('an expression inside a template counts as a use', () => {
    expect(check({ [relay('a.ts')]: 'const a = `{${{ b: Date.now() }.b}`' })).toHaveLength(1)
  })
})

describe('a test waits', () => {
  test.each(['rejects', 'resolves', 'not.rejects', 'not.resolves'])(
    'not by expect(promise).%s, which can hang',
    (wait) => {
      const text = `\nawait expect(work(1))\n  .${wait}.toBe(2)`
      for (const file of ['packages/cli/test/a.test.ts', 'packages/relay/src/a.test.ts', 'bench/a.test.ts']) {
        expect(check({ [file]: text })).toEqual([
          `${file}:2 uses expect().${wait}: it can hang; await the promise, or failureOf of packages/protocol/test/failure-of.ts`,
        ])
      }
    },
  )

  test('but by awaiting the promise, or its failure', () => {
    const text = 'expect(await work()).toBe(1)\nexpect(await failureOf(work())).toEqual({ rejects: 1 })'
    expect(check({ 'packages/cli/test/a.test.ts': text })).toEqual([])
  })
})

describe('circles of imports', () => {
  const circleOf = (folder: string) => [
    `${folder}/c.ts:1 imports ./a.ts: closes a circle, ${['a', 'b', 'c', 'a'].map((name) => `${folder}/${name}.ts`).join(' → ')}`,
  ]

  test.each([
    'packages/client/src/messages',
    'packages/relay/src/push',
    'packages/cli/test',
    'bench',
    'scripts',
  ])('files of %s do not import each other in a circle, types included', (folder) => {
    const path = { [`${folder}/a.ts`]: "import './b.ts'", [`${folder}/b.ts`]: "export * from './c.ts'" }
    for (const last of [
      "import './a.ts'",
      "import type { A } from './a.ts'",
      "type A = import('./a.ts').A",
    ]) {
      expect(check({ ...path, [`${folder}/c.ts`]: last })).toEqual(circleOf(folder))
    }
  })

  test('files of two packages do not import each other in a circle, also by the names of the packages', () => {
    const name = JSON.stringify({ name: '@sotto/relay', exports: { './testing': './test/b.ts' } })
    const files = { 'packages/relay/package.json': name, 'packages/relay/test/b.ts': "import './c.test.ts'" }
    const last = { 'packages/relay/test/c.test.ts': "import '../../cli/test/a.ts'" }
    expect(check({ ...files, ...last, 'packages/cli/test/a.ts': "import '@sotto/relay/testing'" })).toEqual([
      'packages/relay/test/c.test.ts:1 imports ../../cli/test/a.ts: closes a circle, packages/cli/test/a.ts → ' +
        'packages/relay/test/b.ts → packages/relay/test/c.test.ts → packages/cli/test/a.ts',
    ])
  })
})

test('every form of import is found, with its line', () => {
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
const j = "import 'nor this'"
type K = import('ten').K
const l = require('eleven')`
  expect(
    readSource('a.ts', text).imports.map(({ specifier, line, isTypeOnly }) => [line, specifier, isTypeOnly]),
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
    [15, 'ten', true],
    [16, 'eleven', false],
  ])
})
