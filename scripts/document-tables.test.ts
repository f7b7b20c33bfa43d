// Checks the documents against the code: tables, links, log events and their levels, and the reasons for
// dependencies.
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { documentsWithTables, withTables } from './document-tables.ts'

const ROOT = join(import.meta.dir, '..')

function filesOf(...patterns: string[]): string[] {
  return patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(ROOT)])
}

for (const file of documentsWithTables) {
  test(`the tables of ${relative(ROOT, file)} match the code (bun scripts/document-tables.ts --write)`, async () => {
    const text = await Bun.file(file).text()
    expect(text).toContain('<!-- table: ')
    expect(withTables(text)).toBe(text)
  })
}

test('every link between the documents leads to an existing file, and to a heading that it has', async () => {
  const documents = filesOf('*.md', 'docs/**/*.md')
  expect(documents.length).toBeGreaterThan(8)
  const wrong: string[] = []
  for (const document of documents) {
    const text = await Bun.file(join(ROOT, document)).text()
    for (const [link, target, anchor] of text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)) {
      const path = target ? join(ROOT, dirname(document), target) : join(ROOT, document)
      if (!existsSync(path)) wrong.push(`${document} ${link}: no such file`)
      else if (anchor && !anchorsOf(await Bun.file(path).text()).includes(anchor))
        wrong.push(`${document} ${link}: no such heading`)
    }
  }
  expect(wrong).toEqual([])
})

// The anchors that GitHub gives the headings of a document.
function anchorsOf(text: string): string[] {
  const headings = text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)
  return Array.from(headings, ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('the table of contents in operations.md has every chapter', async () => {
  const contents = await Bun.file(join(ROOT, 'docs/operations.md')).text()
  const chapters = filesOf('docs/operations/*.md').map((file) => relative('docs', file))
  expect(chapters.length).toBeGreaterThan(9)
  expect(chapters.filter((chapter) => !contents.includes(`](${chapter})`))).toEqual([])
})

test('the relay logs every event that "The log" in monitoring.md names, as an error', async () => {
  const text = await Bun.file(join(ROOT, 'docs/operations/monitoring.md')).text()
  const section = /\n## The log\n(?<section>[\s\S]+?)\n## /.exec(text)?.groups?.section ?? ''
  const events = [...section.matchAll(/`(?<event>[a-z]+(?:_[a-z]+)+)`/g)].map(({ groups }) => groups?.event)
  expect(events.length).toBeGreaterThan(7)
  const sources = filesOf('packages/relay/src/**/*.ts').filter((file) => !file.endsWith('.test.ts'))
  const code = (await Promise.all(sources.map((file) => Bun.file(join(ROOT, file)).text()))).join('\n')
  const errors = [...code.matchAll(/\.error\(\s*'(?<event>[a-z_]+)'/g)].map(({ groups }) => groups?.event)
  for (const event of events) expect(errors).toContain(event)
})

test('log-events.md names every event that the relay logs, with its level', async () => {
  const rows = (await Bun.file(join(ROOT, 'docs/log-events.md')).text()).matchAll(
    /^\| (?<names>`.+?`) \| (?<levels>[a-z, ]+) \| \S/gm,
  )
  const named: string[] = []
  for (const { groups: { names = '', levels = '' } = {} } of rows) {
    const events = names.replaceAll('`', '').split(', ')
    const levelOf = levels.split(', ')
    for (const [i, event] of events.entries())
      for (const level of (levelOf[i] ?? levels).split(' or ')) named.push(`${level} ${event}`)
  }
  const sources = filesOf('packages/relay/src/**/*.ts', 'packages/cli/src/upgrade/*.ts').filter(
    (file) => !file.endsWith('.test.ts'),
  )
  const code = (await Promise.all(sources.map((file) => Bun.file(join(ROOT, file)).text()))).join('\n')
  const logged = code.matchAll(
    /(?:\.(?<level>error|warn|info|debug)|(?<repeated>\bRepeatedWarning)|\['?(?<either>.*'error' : 'warn')\])\(\s*'(?<event>[a-z]+(?:_[a-z]+)*)'/g,
  )
  const found = [...logged].flatMap(({ groups: { level, either, event } = {} }) =>
    (either ? ['error', 'warn'] : [level ?? 'warn']).map((one) => `${one} ${event}`),
  )
  expect(named.toSorted()).toEqual([...new Set(found)].toSorted())
})

test('log-events.md names every event of the security log', async () => {
  const [, section = ''] = (await Bun.file(join(ROOT, 'docs/log-events.md')).text()).split(
    '\n## The security log\n',
  )
  const named = Array.from(section.matchAll(/^\| `(\w+)` \|/gm), ([, name = '']) => name)
  const sources = filesOf('packages/relay/src/**/*.ts').filter((file) => !file.endsWith('.test.ts'))
  const code = (await Promise.all(sources.map((file) => Bun.file(join(ROOT, file)).text()))).join('\n')
  const recorded = Array.from(code.matchAll(/ecurityLog\.record\(\s*'(\w+)'/g), ([, name = '']) => name)
  expect(named.toSorted()).toEqual([...new Set(recorded)].toSorted())
})

test('every dependency has an exact version, and a decision record explains it', async () => {
  const manifests = filesOf('package.json', 'packages/*/package.json')
  expect(manifests.length).toBeGreaterThan(5)
  const records = await Promise.all(
    filesOf('docs/decisions/*.md').map((file) => Bun.file(join(ROOT, file)).text()),
  )
  for (const manifest of manifests) {
    const { dependencies = {}, devDependencies = {} } = await Bun.file(join(ROOT, manifest)).json()
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      expect(`${name} ${version}`).toMatch(/ \d+\.\d+\.\d+(-rc\.\d+)?$/) // an exact version
      if (name.startsWith('@sotto/')) continue
      expect({ name, explained: records.some((text) => text.includes(`\`${name}\``)) }).toEqual({
        name,
        explained: true,
      })
    }
  }
})
