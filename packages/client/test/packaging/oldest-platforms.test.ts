// The built package, its libraries included, uses nothing that the oldest platforms lack: Node 20.0,
// Chromium 110, Firefox 115 and Safari 16.4. The check of types holds our sources to ES2023, but it knows
// neither the libraries nor the age of Web APIs. This test reads both in the scripts as they are published.
import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { packClient } from './packed.ts'

const LIMIT_MS = 400_000

/** Functions and properties of newer platforms, as `owner.name`, or `.name` on any object. */
const NEWER = [
  'AbortSignal.any',
  'Array.fromAsync',
  'Atomics.waitAsync',
  'Error.isError',
  'Iterator.from',
  'JSON.rawJSON',
  'Map.groupBy',
  'Math.f16round',
  'Math.sumPrecise',
  'Object.groupBy',
  'Promise.try',
  'Promise.withResolvers',
  'ReadableStream.from',
  'RegExp.escape',
  'Response.json',
  'Symbol.asyncDispose',
  'Symbol.dispose',
  'URL.canParse',
  'URL.parse',
  'Uint8Array.fromBase64',
  'Uint8Array.fromHex',
  '.getSetCookie',
  '.isDisjointFrom',
  '.isSubsetOf',
  '.isSupersetOf',
  '.isWellFormed',
  '.setFromBase64',
  '.setFromHex',
  '.symmetricDifference',
  '.toBase64',
  '.toHex',
  '.toWellFormed',
  '.transfer',
  '.transferToFixedLength',
]
/** Newer names of the global scope. */
const NEWER_GLOBALS = [
  'AsyncDisposableStack',
  'CloseEvent',
  'DisposableStack',
  'Float16Array',
  'Iterator',
  'SuppressedError',
  'Temporal',
  'URLPattern',
  'scheduler',
]
/** Scripts that first look whether the platform has the name, or give it to a method of their own. */
const GUARDED = [
  'crypto/bytes.js: .transfer',
  'vendor/@noble/curves/abstract/edwards.js: .toHex',
  'vendor/@noble/hashes/utils.js: .toHex',
  'vendor/@noble/hashes/utils.js: Uint8Array.fromHex',
  'vendor/@noble/hashes/utils.js: scheduler',
]

interface Script {
  readonly path: string
  readonly text: string
}

/** The uses of newer names in a script, as `owner.name`, `.name` or a global. */
function newerNamesIn({ path, text }: Script): string[] {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} cannot be read: ${errors[0]?.message}`)
  const found = new Set<string>()
  new Visitor({
    MemberExpression({ object, property, computed }) {
      if (property.type !== 'Identifier' || computed) return
      const names = [
        `.${property.name}`,
        object.type === 'Identifier' ? `${object.name}.${property.name}` : '',
      ]
      for (const name of names) if (NEWER.includes(name)) found.add(name)
    },
    Identifier({ name }) {
      if (NEWER_GLOBALS.includes(name)) found.add(name)
    },
  }).visit(program)
  return [...found].map((name) => `${path}: ${name}`)
}

let scripts: Script[]
beforeAll(async () => {
  const lib = join((await packClient()).folder, 'lib')
  const paths = [...new Bun.Glob('**/*.js').scanSync(lib)].sort()
  scripts = await Promise.all(
    paths.map(async (path) => ({ path, text: await Bun.file(join(lib, path)).text() })),
  )
}, LIMIT_MS)

test('newer names are found', () => {
  const text =
    'const found = AbortSignal.any([]); new Uint8Array(1).buffer.transfer?.(0); new DisposableStack()'
  expect(newerNamesIn({ path: 'app.js', text })).toEqual([
    'app.js: AbortSignal.any',
    'app.js: .transfer',
    'app.js: DisposableStack',
  ])
})

test('no script of the package uses what the oldest platforms lack, except where it looks first', () => {
  expect(scripts.length).toBeGreaterThan(100)
  expect(scripts.flatMap(newerNamesIn)).toEqual(GUARDED)
})
