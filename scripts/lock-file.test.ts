// package-lock.json names the packages for every system, so that `npm ci` works on Linux, macOS and Windows.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { findUnchecked, findUnnamed, type LockFile } from './lock-file.ts'

const lock: LockFile = await Bun.file(join(import.meta.dir, '../package-lock.json')).json()

test('the lock names every package that another one needs, for every system', () => {
  expect(findUnnamed(lock)).toEqual([])
})

test('a missing package for another system is reported', () => {
  const { '@biomejs/cli-win32-x64': _, ...others } = Object.fromEntries(
    Object.entries(lock.packages).map(([path, entry]) => [path.replace('node_modules/', ''), entry]),
  )
  const packages = Object.fromEntries(
    Object.entries(others).map(([name, entry]) => [`node_modules/${name}`, entry]),
  )
  expect(findUnnamed({ packages })).toContainEqual(
    expect.stringMatching(/^node_modules\/@biomejs\/biome asks for @biomejs\/cli-win32-x64 /),
  )
})

test('a package is found in the node_modules of its own folder and of the folders above', () => {
  const asks = { dependencies: { b: '1.0.0' } }
  const b = { version: '1.0.0' }
  expect(findUnnamed({ packages: { 'node_modules/a': asks, 'node_modules/b': b } })).toEqual([])
  expect(findUnnamed({ packages: { 'node_modules/a': asks, 'node_modules/a/node_modules/b': b } })).toEqual(
    [],
  )
  expect(findUnnamed({ packages: { 'packages/x': asks, 'node_modules/b': b } })).toEqual([])
  expect(findUnnamed({ packages: { 'packages/x': asks, 'packages/y/node_modules/b': b } })).toEqual([
    'packages/x asks for b 1.0.0',
  ])
})

test('a package in a version outside the requested range does not count', () => {
  // The tool needs its own version of a parser that has a program for each system. The lock names only the
  // program of another version.
  const packages = {
    'node_modules/tool': { dependencies: { parser: '^2.0.0' } },
    'node_modules/tool/node_modules/parser': {
      version: '2.0.1',
      optionalDependencies: { 'for-mac': '2.0.1' },
    },
    'node_modules/for-mac': { version: '1.0.0' },
  }
  expect(findUnnamed({ packages })).toEqual(['node_modules/tool/node_modules/parser asks for for-mac 2.0.1'])
})

test('an optional peer dependency may be missing', () => {
  const peer = { peerDependencies: { b: '1' }, peerDependenciesMeta: { b: { optional: true } } }
  expect(findUnnamed({ packages: { 'node_modules/a': peer } })).toEqual([])
})

test('all but four packages have a checksum', () => {
  // docs/decisions/0022-the-lock-file.md says why these have no checksum.
  expect(findUnchecked(lock)).toEqual([
    '@foundry-rs/anvil-darwin-amd64',
    '@foundry-rs/anvil-darwin-arm64',
    '@foundry-rs/anvil-linux-arm64',
    '@foundry-rs/anvil-win32-amd64',
  ])
})
