// Which versions an update of the dependencies may choose, and what it reports.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { compareTrees, findNewer, findNewScripts, followers, readPins, repin } from './dependency-updates.ts'
import type { LockFile } from './lock-file.ts'

const manifest = (dependencies: Record<string, string>, name = 'sotto-workspace') =>
  `${JSON.stringify({ name, dependencies }, null, 2)}\n`

test('newer versions are those above the pin and up to the latest, without pre-releases, the newest first', () => {
  const versions = ['1.2.9', '1.2.10', '1.3.0-rc.1', '1.3.0', '2.0.0', '3.0.0']
  expect(findNewer('1.2.9', { versions, latest: '2.0.0' })).toEqual(['2.0.0', '1.3.0', '1.2.10'])
  expect(findNewer('2.0.0', { versions, latest: '2.0.0' })).toEqual([])
})

test('the packages of others are pinned, each to one exact version for the whole workspace', () => {
  const protocol = manifest({ valibot: '1.5.0' }, '@sotto/protocol')
  const client = manifest({ '@sotto/protocol': '0.1.0', valibot: '1.5.0' }, '@sotto/client')
  expect(readPins({ 'a/package.json': protocol, 'b/package.json': client })).toEqual({ valibot: '1.5.0' })

  const other = manifest({ valibot: '1.4.0' }, '@sotto/relay')
  expect(() => readPins({ a: protocol, b: other })).toThrow('b asks for valibot 1.4.0, another for 1.5.0')
  expect(() => readPins({ a: manifest({ valibot: '^1.5.0' }) })).toThrow('not for one version')
})

test('a manifest gets its new versions and is otherwise unchanged', () => {
  const text = '{ "dependencies": { "ws": "8.1.0", "@types/ws": "8.1.0" },  "allowScripts": { "ws": true } }'
  expect(repin(text, { '@types/ws': '8.2.0', other: '1.0.0' })).toBe(
    text.replace('"@types/ws": "8.1.0"', '"@types/ws": "8.2.0"'),
  )
})

test('added, removed and changed packages of the tree are listed with their licences', () => {
  const before: LockFile = {
    packages: {
      '': {},
      'node_modules/@sotto/client': { link: true },
      'node_modules/same': { version: '1.0.0', license: 'MIT' },
      'node_modules/gone': { version: '1.0.0', license: 'MIT' },
      'node_modules/moved': { version: '1.0.0', license: 'MIT' },
      'node_modules/same/node_modules/moved': { version: '0.9.0', license: 'MIT' },
    },
  }
  const after: LockFile = {
    packages: {
      'node_modules/same': { version: '1.0.0', license: 'MIT' },
      'node_modules/come': { version: '2.0.0' },
      'node_modules/moved': { version: '1.1.0', license: 'BUSL-1.1' },
      'node_modules/same/node_modules/moved': { version: '0.9.0', license: 'MIT' },
    },
  }
  expect(compareTrees(before, after)).toEqual([
    '+ come 2.0.0 (no licence named)',
    '- gone 1.0.0 (MIT)',
    '  moved 0.9.0 and 1.0.0 → 0.9.0 and 1.1.0 (MIT → BUSL-1.1 and MIT)',
  ])
  expect(compareTrees(after, after)).toEqual([])
})

test('a package that newly runs a script at its installation is reported', () => {
  const before: LockFile = {
    packages: { 'node_modules/bun': { hasInstallScript: true }, 'node_modules/a': {} },
  }
  const after: LockFile = {
    packages: {
      'node_modules/bun': { hasInstallScript: true },
      'node_modules/a': { hasInstallScript: true },
      'node_modules/b': {},
    },
  }
  expect(findNewScripts(before, after)).toEqual(['a'])
})

test('each follower and its leader are our dependencies, and the follower’s pin is in the range for its leader', async () => {
  const read = (path: string) => Bun.file(join(import.meta.dir, '..', path)).text()
  const pins = readPins({ 'package.json': await read('package.json') })
  for (const [name, { leader, range }] of Object.entries(followers)) {
    expect(pins).toContainKeys([name, leader])
    const lock: LockFile = JSON.parse(await read('package-lock.json'))
    const { version = '', dependencies = {} } = lock.packages[`node_modules/${leader}`] ?? {}
    expect(Bun.semver.satisfies(pins[name] ?? '', range({ version, dependencies }))).toBe(true)
  }
})
