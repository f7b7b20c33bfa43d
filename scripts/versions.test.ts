// The changelog has the form of Keep a Changelog, and all packages have its newest version.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { ROOT } from './client-package/entries.ts'

const changelog = await Bun.file(join(ROOT, 'CHANGELOG.md')).text()
const headings = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading)
const released = headings.map((heading) =>
  /^\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d|Unreleased)$/.exec(heading),
)
const versions = released.map((found) => found?.[1] ?? '')

test('each version of the changelog has a date, the newest first; only the newest may be unreleased', () => {
  expect(released).not.toContain(null)
  expect(versions).toEqual(versions.toSorted((a, b) => Bun.semver.order(b, a)))
  expect(new Set(versions).size).toBe(versions.length)
  expect(released.slice(1).filter((found) => found?.[2] === 'Unreleased')).toEqual([])
  const groups = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']
  for (const [, group = ''] of changelog.matchAll(/^### (.*)$/gm)) expect(groups).toContain(group)
})

test('every package, and every package that it uses of ours, has the newest version of the changelog', async () => {
  const manifests = [...new Bun.Glob('packages/*/package.json').scanSync({ cwd: ROOT }), 'package.json']
  expect(manifests.length).toBeGreaterThan(5)
  for (const path of manifests) {
    const { version, dependencies = {} } = await Bun.file(join(ROOT, path)).json()
    const ours = Object.entries(dependencies).filter(([name]) => name.startsWith('@sotto/'))
    for (const each of [version, ...ours.map(([, wanted]) => wanted)])
      expect(`${path}: ${each}`).toBe(`${path}: ${versions[0]}`)
  }
  const { packages } = await Bun.file(join(ROOT, 'package-lock.json')).json()
  expect(packages[''].version).toBe(versions[0])
})
