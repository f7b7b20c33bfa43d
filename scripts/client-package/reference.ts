// The API reference: Markdown made from the package's declarations and the doc comments in them.
import * as ts from 'typescript/unstable/ast'
import { withDeclarations } from './declarations.ts'
import type { RolledUp } from './roll-up.ts'

/** A page of the reference. */
export interface Page {
  /** The file's name. */
  readonly name: string
  readonly text: string
}

const KINDS = ['Classes', 'Functions', 'Constants', 'Types'] as const
type Kind = (typeof KINDS)[number]

interface Item {
  readonly kind: Kind
  readonly name: string
  readonly text: string
}

/**
 * Makes one page for each entry. `specifiers` has the import specifier of each entry, by the entry's name.
 */
export async function makeReference(
  declarations: readonly RolledUp[],
  specifiers: ReadonlyMap<string, string>,
): Promise<readonly Page[]> {
  const [core] = declarations
  const shown = declarations.filter(({ exported }) => exported.length > 0)
  return withDeclarations(declarations, (program, fileOf) =>
    Promise.all(
      shown.map(async ({ name }) => {
        const source = await program.project.program.getSourceFile(fileOf(name))
        if (!source) throw new Error(`${name} cannot be read`)
        const items = source.statements.flatMap((statement) => itemOf(statement) ?? [])
        const specifier = specifiers.get(name)
        if (specifier === undefined) throw new Error(`${name} is not an entry`)
        const others = name === core?.name ? new Set<string>() : new Set(core?.declared.values())
        const own = new Set(items.map((item) => item.name))
        const link = (target: string): string => {
          if (own.has(target)) return `[\`${target}\`](#${target.toLowerCase()})`
          return others.has(target)
            ? `[\`${target}\`](${core?.name}.md#${target.toLowerCase()})`
            : `\`${target}\``
        }
        const text = pageOf(specifier, items).replace(/\{@link (\w+)\}/g, (_, target: string) => link(target))
        return { name: `${name}.md`, text }
      }),
    ),
  )
}

function pageOf(specifier: string, items: readonly Item[]): string {
  const sections = KINDS.flatMap((kind) => {
    const ofKind = items.filter((item) => item.kind === kind).sort((a, b) => (a.name < b.name ? -1 : 1))
    if (ofKind.length === 0) return []
    const index = ofKind.map(({ name }) => `[\`${name}\`](#${name.toLowerCase()})`).join(' · ')
    return [{ kind, index, text: ofKind.map(({ name, text }) => `### ${name}\n\n${text}`).join('\n\n') }]
  })
  return [
    `# \`${specifier}\``,
    'Made from the doc comments in the source by `npm run docs`. The [guide](../guide.md) is where to begin.',
    ...sections.map(({ kind, index }) => `**${kind}** ${index}`),
    ...sections.map(({ kind, text }) => `## ${kind}\n\n${text}`),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n')
}

function itemOf(statement: ts.Statement): Item | undefined {
  const doc = markdownOf(docOf(statement))
  if (ts.isClassDeclaration(statement)) return classItem(statement, doc)
  const code = statement.getText().replace(/^export (?:declare )?/, '')
  const item = (kind: Kind, name: string | undefined): Item => {
    if (name === undefined) throw new Error(`a nameless declaration: ${code}`)
    return { kind, name, text: [doc, fence(code)].filter(Boolean).join('\n\n') }
  }
  if (ts.isFunctionDeclaration(statement)) return item('Functions', statement.name?.getText())
  if (ts.isVariableStatement(statement))
    return item('Constants', statement.declarationList.declarations[0]?.name.getText())
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
    return item('Types', statement.name.text)
  return undefined
}

function classItem(node: ts.ClassDeclaration, doc: string): Item {
  const name = node.name?.text ?? ''
  const head = /^export declare ([^{]*?) \{/.exec(node.getText())?.[1] ?? name
  const members = node.members.flatMap((member) => {
    const text = member.getText()
    const ownDoc = docOf(member)
    const isPublicConstructor = ts.isConstructorDeclaration(member) && !text.startsWith('private')
    // A member without a comment implements an interface of the class and is documented there.
    if (ownDoc === '' && !isPublicConstructor) return []
    return [`${fence(text.replaceAll('\n  ', '\n'))}\n\n${markdownOf(ownDoc)}`.trim()]
  })
  return { kind: 'Classes', name, text: [fence(head), doc, ...members].filter(Boolean).join('\n\n') }
}

function fence(code: string): string {
  return `\`\`\`ts\n${code}\n\`\`\``
}

function docOf(node: ts.Node): string {
  const doc = node.jsDoc?.at(-1)
  return doc ? node.getSourceFile().text.slice(doc.pos, doc.end).trim() : ''
}

/** Turns a doc comment into Markdown: without its asterisks, and with words instead of its tags. */
function markdownOf(comment: string): string {
  return comment
    .replace(/^\/\*\*\s?|\s*\*\/$/g, '')
    .replace(/^ *\* ?/gm, '')
    .replace(/\s*@throws\s+(?=\S)/g, '\n\nThrows ')
    .replace(/^@param (\w+) /gm, '- `$1`: ')
    .replace(/\s*@returns?\s+/g, '\n\nReturns ')
    .replace(/^@(\w+)/gm, '**$1** ')
    .trim()
}
