// Combines the declarations of an entry, and of all types that it shows, into one file. Reports public names
// without documentation.

import * as ts from 'typescript/unstable/ast'
import { SymbolFlags, type Symbol as TypeSymbol } from 'typescript/unstable/async'
import type { Program } from './program.ts'
import { Scope } from './scope.ts'
import { type Shapes, shapeOf, TypeText } from './type-text.ts'

/** A combined declaration file. */
export interface RolledUp {
  /** The entry's name, without a file extension. */
  readonly name: string
  readonly text: string
  /** The names that the entry exports. */
  readonly exported: readonly string[]
  /** All names declared in this file or in the core, by symbol. */
  readonly declared: ReadonlyMap<number, string>
  /** Public names without a doc comment, and links in comments to names that do not exist. */
  readonly undocumented: readonly string[]
}

/**
 * Combines the declarations of one entry.
 * @param folder the folder of all declarations
 * @param core the core's declarations, from which this entry imports shared names; undefined for the core
 *   itself
 */
export async function rollUp(
  program: Program,
  name: string,
  file: string,
  folder: string,
  core?: RolledUp,
): Promise<RolledUp> {
  const exported = await program.exportsOf(file)
  const scope = new Scope(core?.declared ?? new Map())
  const types = new TypeText(program.project, folder, await findShapes(program, file, folder))
  const publicIds = new Set(
    [...exported.values()].map(({ id }) => id).concat([...(core?.declared.keys() ?? [])]),
  )
  const entry = new EntryText(program, scope, types, publicIds)
  const again: string[] = []
  for (const [exportName, symbol] of exported) {
    if (core?.declared.has(symbol.id)) again.push(exportName)
    else scope.nameOf(symbol, exportName)
  }
  const declarations: string[] = []
  for (let next = scope.next(); next; next = scope.next())
    declarations.push(await entry.declare(next.symbol, next.name))
  const from = core && `from './${core.name}.js';`
  const head = [
    ...(scope.imported.length > 0 ? [`import type { ${scope.imported.join(', ')} } ${from}`] : []),
    ...(again.length > 0 ? [`export { ${again.sort().join(', ')} } ${from}`] : []),
  ]
  const whole = [...head, ...declarations, 'export {};'].join('\n\n')
  // The compiler indents by four spaces, and our files by two.
  const text = `${whole.replace(/^(?: {4})+/gm, (spaces) => ' '.repeat(spaces.length / 2))}\n`
  const declared = new Map([...scope.declared, ...(core?.declared ?? [])])
  const deadLinks = [...text.matchAll(/\{@link (\w+)/g)]
    .map(([, target = '']) => target)
    .filter((target) => ![...declared.values()].includes(target))
  const undocumented = [...entry.undocumented, ...deadLinks.map((target) => `{@link ${target}}`)]
  return { name, text, exported: [...exported.keys()], declared, undocumented }
}

// A type that is derived from a schema loses its name inside another type. Its shape identifies it, so that
// the name can be used again.
async function findShapes(program: Program, file: string, folder: string): Promise<Shapes> {
  const shapes = new Map<string, TypeSymbol>()
  const types = new TypeText(program.project, folder, shapes)
  const visit = async (symbol: TypeSymbol): Promise<void> => {
    if (!(symbol.flags & SymbolFlags.TypeAlias)) return
    const nodes = await Promise.all(symbol.declarations.map((handle) => handle.resolve()))
    if (nodes.some((node) => node && ts.isTypeAliasDeclaration(node) && node.typeParameters)) return
    const type = await program.project.checker.getDeclaredTypeOfSymbol(symbol)
    const text = await types.of(type, new Scope(new Map()), symbol)
    if (/^\{|^"[^|]* \| /.test(text)) shapes.set(shapeOf(text), symbol)
  }
  const aliases = new Map<number, TypeSymbol>()
  for (const symbol of (await program.exportsOf(file)).values()) {
    const path = symbol.declarations[0]?.path
    if (path === undefined || !types.isOurs(symbol) || !(symbol.flags & SymbolFlags.TypeAlias)) continue
    for (const neighbour of (await program.exportsOf(path)).values()) aliases.set(neighbour.id, neighbour)
  }
  // Two passes: in the first, a type may be visited before the types inside it have their names.
  for (const symbol of [...aliases.values(), ...aliases.values()]) await visit(symbol)
  return shapes
}

interface Splice {
  readonly from: number
  readonly to: number
  readonly text: string
}

class EntryText {
  readonly undocumented: string[] = []
  readonly #program: Program
  readonly #scope: Scope
  readonly #types: TypeText
  /** The symbols that applications can import. */
  readonly #publicIds: ReadonlySet<number>

  constructor(program: Program, scope: Scope, types: TypeText, publicIds: ReadonlySet<number>) {
    this.#publicIds = publicIds
    this.#program = program
    this.#scope = scope
    this.#types = types
  }

  async declare(symbol: TypeSymbol, name: string): Promise<string> {
    const nodes = (await Promise.all(symbol.declarations.map((handle) => handle.resolve()))).filter(
      (node) => node !== undefined,
    )
    // A schema and its type share a name; only the type is public.
    const type = nodes.find(ts.isTypeAliasDeclaration)
    const node = type ?? nodes[0]
    if (!node) throw new Error(`${name} is declared nowhere`)
    const doc = docOf(nodes)
    if (doc === undefined) this.undocumented.push(name)
    const body = type ? await this.#alias(symbol, name, type) : await this.#asItStands(name, node)
    return `${doc === undefined ? '' : `${doc}\n`}export ${body}`
  }

  async #alias(symbol: TypeSymbol, name: string, node: ts.TypeAliasDeclaration): Promise<string> {
    if (!(await this.#isDerived(node.type))) return this.#asItStands(name, node)
    const text = await this.#types.of(
      await this.#program.project.checker.getDeclaredTypeOfSymbol(symbol),
      this.#scope,
      symbol,
    )
    return /^\{[\s\S]*\}$/.test(text) && !/^\} \| \{/m.test(text)
      ? `interface ${name} ${text}`
      : `type ${name} = ${text};`
  }

  async #asItStands(name: string, node: ts.Node): Promise<string> {
    if (ts.isClassDeclaration(node)) return this.#class(name, node)
    const text = await this.#text(node)
    const bare = text.replace(/^export /, '').replace(/^declare /, '')
    const isValue = !ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node)
    if (ts.isVariableDeclaration(node)) return `declare const ${bare};`
    return `${isValue ? 'declare ' : ''}${bare}`
  }

  async #class(name: string, node: ts.ClassDeclaration): Promise<string> {
    const heritage: string[] = []
    const members = new Map<string, string>()
    const undocumented = await this.#collect(name, node, heritage, members)
    // The members of a class that implements an interface are documented in the interface.
    if (!heritage.some((clause) => clause.startsWith('implements '))) this.undocumented.push(...undocumented)
    const head = /^(?:export )?(?:declare )?((?:abstract )?class \w+(?:<[^{]*?>)?)/.exec(node.getText())?.[1]
    if (!head) throw new Error(`the class ${name} cannot be read`)
    const clauses = [...new Set(heritage)].sort().join(' ')
    return `declare ${head}${clauses === '' ? '' : ` ${clauses}`} {\n${[...members.values()].join('\n')}\n}`
  }

  // A base class that is not public is not shown. Its members are written into the class itself.
  async #collect(
    name: string,
    node: ts.ClassDeclaration,
    heritage: string[],
    members: Map<string, string>,
    isBase = false,
  ): Promise<string[]> {
    const undocumented: string[] = []
    for (const member of node.members) {
      const text = member.getText()
      const key =
        /^(?:[a-z]+ )*(#?\w+|\[[^\]]+\])/.exec(
          text.replace(/\b(?:static|readonly|abstract|async|declare|override|get|set)\s+(?=[\w[#])/g, ''),
        )?.[1] ?? text
      const isHidden = /^(?:private|protected)\s/.test(text) && !ts.isConstructorDeclaration(member)
      if (
        isHidden ||
        members.has(key) ||
        (isBase && (ts.isConstructorDeclaration(member) || text.startsWith('abstract ')))
      )
        continue
      const doc = docOf([member])
      const mayBeBare = text.startsWith('#') || ts.isConstructorDeclaration(member)
      if (doc === undefined && !mayBeBare) undocumented.push(`${name}.${key}`)
      const lines = [...(doc === undefined ? [] : [indent(doc, INDENT)]), await this.#text(member)]
      members.set(key, lines.map((line) => `${INDENT}${line}`).join('\n'))
    }
    for (const clause of node.heritageClauses ?? []) {
      const word = clause.getText().split(' ')[0]
      for (const type of clause.types) {
        const base = await this.#symbolOf(type.expression)
        if (!base || !this.#types.isOurs(base) || this.#publicIds.has(base.id)) {
          heritage.push(`${word} ${await this.#text(type)}`)
          continue
        }
        const baseNode = await base.valueDeclaration?.resolve()
        if (word !== 'extends' || !baseNode) continue
        if (ts.isClassDeclaration(baseNode)) await this.#collect(name, baseNode, heritage, members, true)
        else await this.#collectPromised(type, members)
      }
    }
    return undocumented
  }

  // A class can extend a value whose methods are those of another class, but return promises. Each method is
  // written as the other class declares it, with a promise of its result.
  async #collectPromised(base: ts.Node, members: Map<string, string>): Promise<void> {
    const { checker } = this.#program.project
    const type = await checker.getTypeAtLocation(base)
    if (!type) throw new Error(`no type: ${base.getText()}`)
    for (const property of await checker.getPropertiesOfType(type)) {
      const method = await property.declarations[0]?.resolve()
      if (!method || !ts.isMethodDeclaration(method) || !method.type || !ts.isClassDeclaration(method.parent))
        throw new Error(`${property.name} is not a method of a class`)
      const answer = await this.#text(method.type)
      const text = (await this.#text(method)).slice(0, -1)
      const promised = answer.startsWith('Promise<')
        ? text
        : `${text.slice(0, -answer.length)}Promise<${answer}>`
      const lines = [`/** See \`${method.parent.name?.text}.${property.name}\`. */`, `${promised};`]
      members.set(property.name, lines.map((line) => `${INDENT}${line}`).join('\n'))
    }
  }

  async #text(node: ts.Node): Promise<string> {
    const source = node.getSourceFile()
    const start = node.getStart(source)
    let text = source.text.slice(start, node.end)
    const splices = await this.#splicesOf(node)
    for (const { from, to, text: by } of splices.sort((a, b) => b.from - a.from))
      text = text.slice(0, from - start) + by + text.slice(to - start)
    return text
  }

  async #splicesOf(node: ts.Node): Promise<Splice[]> {
    const source = node.getSourceFile()
    const replace = (text: string): Splice[] => [{ from: node.getStart(source), to: node.end, text }]
    if (ts.isTypeReferenceNode(node) || ts.isIndexedAccessTypeNode(node) || ts.isTypeQueryNode(node)) {
      if (await this.#isItselfDerived(node)) {
        const type = await this.#program.project.checker.getTypeFromTypeNode(node)
        if (!type) throw new Error(`no type: ${node.getText()}`)
        return replace(
          indent(await this.#types.of(type, this.#scope), indentAt(source.text, node.getStart(source))),
        )
      }
    }
    if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)) {
      const name = ts.isTypeReferenceNode(node) ? node.typeName : node.expression
      const symbol = await this.#symbolOf(name)
      const splices: Splice[] = []
      if (symbol && this.#types.isOurs(symbol) && !(symbol.flags & SymbolFlags.TypeParameter))
        splices.push({ from: name.getStart(source), to: name.end, text: this.#scope.nameOf(symbol) })
      for (const argument of node.typeArguments ?? []) splices.push(...(await this.#splicesOf(argument)))
      return splices
    }
    return (await Promise.all(childrenOf(node).map((child) => this.#splicesOf(child)))).flat()
  }

  /** Whether a type's source refers to something that is not published. */
  async #isDerived(node: ts.Node): Promise<boolean> {
    if (await this.#isItselfDerived(node)) return true
    for (const child of childrenOf(node)) if (await this.#isDerived(child)) return true
    return false
  }

  /**
   * Whether a type, without its children, is a library's, is taken from a table or a schema, or is an alias
   * that makes such a type from its arguments.
   */
  async #isItselfDerived(node: ts.Node): Promise<boolean> {
    if (ts.isTypeQueryNode(node) || ts.isImportTypeNode(node)) return true
    if (ts.isIndexedAccessTypeNode(node)) return ts.isLiteralTypeNode(node.indexType)
    if (!ts.isTypeReferenceNode(node)) return false
    const symbol = await this.#symbolOf(node.typeName)
    if (!symbol) throw new Error(`the compiler does not know ${node.getText()}`)
    if (isOfLibrary(symbol)) return true
    if (node.typeArguments === undefined || !this.#types.isOurs(symbol)) return false
    const nodes = await Promise.all(symbol.declarations.map((handle) => handle.resolve()))
    const alias = nodes.find((declaration) => declaration && ts.isTypeAliasDeclaration(declaration))
    return alias !== undefined && this.#isDerived(alias)
  }

  async #symbolOf(node: ts.Node): Promise<TypeSymbol | undefined> {
    const symbol = await this.#program.project.checker.getSymbolAtLocation(node)
    return symbol && this.#program.resolve(symbol)
  }
}

const INDENT = '    '

function indent(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`)
}

function indentAt(text: string, position: number): string {
  const line = text.slice(text.lastIndexOf('\n', position - 1) + 1, position)
  return /^ */.exec(line)?.[0] ?? ''
}

function childrenOf(node: ts.Node): readonly ts.Node[] {
  const children: ts.Node[] = []
  node.forEachChild((child) => {
    children.push(child)
  })
  return children
}

function isOfLibrary(symbol: TypeSymbol): boolean {
  return symbol.declarations.some(
    ({ path }) =>
      path.includes('/node_modules/') &&
      !path.includes('/node_modules/@types/') &&
      !path.includes('/node_modules/@typescript/'),
  )
}

// The first doc comment that is more than a link: the comment of a type beside its schema only links to the
// schema.
function docOf(nodes: readonly ts.Node[]): string | undefined {
  const docs = nodes.flatMap((node) => {
    const bearer = ts.isVariableDeclaration(node) ? node.parent.parent : node
    const doc = bearer.jsDoc?.at(-1)
    if (!doc) return []
    const source = bearer.getSourceFile()
    return [source.text.slice(doc.pos, doc.end).trim().replace(/^ +\*/gm, ' *')]
  })
  return docs.find((doc) => !/^\/\*\* See \{@link \w+\}\. \*\/$/.test(doc)) ?? docs[0]
}
