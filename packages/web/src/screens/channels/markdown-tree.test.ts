// What posts become: elements for what authors mean, text for everything else, nothing that loads or runs.
import { expect, test } from 'bun:test'
import { linkTarget, type MarkdownNode, readMarkdown, textOf } from './markdown-tree.ts'

/** A tree in short: `paragraph(bold=strong(text))` without the texts. */
function outline(nodes: readonly MarkdownNode[]): string {
  return nodes
    .map((node) => {
      if (node.kind === 'text') return JSON.stringify(node.text)
      if (node.kind === 'code') return `code${JSON.stringify(node.text)}`
      if (node.kind === 'link') return `link<${node.href}>(${outline(node.children)})`
      return node.kind === 'element' ? `${node.name}(${outline(node.children)})` : node.kind
    })
    .join(' ')
}

const read = (text: string): string => outline(readMarkdown(text))

/** How deeply elements are within each other. */
function depthOf(nodes: readonly MarkdownNode[]): number {
  return Math.max(0, ...nodes.map((node) => ('children' in node ? 1 + depthOf(node.children) : 0)))
}

test('Markdown becomes elements', () => {
  expect(read('# Tea\n\nHot **and** *strong* ~~milk~~ `a<b`\nnew line')).toBe(
    'heading("Tea") paragraph("Hot " strong("and") " " emphasis("strong") " " struck("milk") " " code"a<b" break "new line")',
  )
  expect(read('- one\n- two\n\n3. three\n\n> quoted\n\n---\n\n```js\nlet a\n```')).toBe(
    'bullets(item("one") item("two")) numbers(item("three")) quote(paragraph("quoted")) rule code"let a"',
  )
})

test('HTML stays text', () => {
  const html = '<img src=x onerror=alert(1)>\n\n<script>alert(1)</script> a <b>b</b>'
  expect(textOf(readMarkdown(html)).replaceAll(' ', '')).toBe(html.replace(/\s+/g, ''))
  expect(read('a <b>b</b>')).toBe('paragraph("a <b>b</b>")')
})

test('links lead to the web and to mailboxes, and nowhere else', () => {
  expect(read('[tea](https://tea.example/a) and https://b.example')).toBe(
    'paragraph(link<https://tea.example/a>("tea") " and " link<https://b.example/>("https://b.example"))',
  )
  expect(read('write to a@tea.example')).toContain('link<mailto:a@tea.example>')
  for (const address of [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java&#10;script:alert(1)',
    '&#x6A;avascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://a.example/1',
    '//a.example',
    '#/settings/account',
  ])
    expect(read(`[words](<${address}>)`)).not.toContain('link<')
  expect(linkTarget('https://аpple.example/\u202Egpj.exe')).toBe(
    'https://xn--pple-43d.example/%E2%80%AEgpj.exe',
  )
})

test('pictures are links, and are not loaded', () => {
  expect(read('![a cup](https://tea.example/cup.png)')).toBe(
    'paragraph(link<https://tea.example/cup.png>("a cup"))',
  )
  expect(read('![](javascript:alert)')).not.toContain('link<')
})

test('however deeply an author nests, little is within each other, and every word is shown', () => {
  const deep = [
    `${'>'.repeat(10_000)}end`,
    `${'- '.repeat(10_000)}end`,
    `${'*'.repeat(10_000)}end${'*'.repeat(10_000)}`,
    `${'['.repeat(10_000)}end${'](b)'.repeat(10_000)}`,
    `${'**a *b '.repeat(2000)}end${'* **'.repeat(2000)}`,
    `${Array.from({ length: 300 }, (_, level) => `${'  '.repeat(level)}- a`).join('\n')}end`,
  ]
  for (const text of deep) {
    const tree = readMarkdown(text)
    expect(depthOf(tree)).toBeLessThanOrEqual(12)
    expect(outline(tree)).toContain('end')
  }
})
