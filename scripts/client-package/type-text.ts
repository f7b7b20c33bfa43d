// Writes types as text. This is for types whose source refers to private packages or to Valibot: the text
// comes from the compiler's knowledge of the type.
import { join } from 'node:path'
import {
  type Project,
  SymbolFlags,
  type Type,
  TypeFlags,
  type TypeReference,
  type Symbol as TypeSymbol,
} from 'typescript/unstable/async'
import type { Scope } from './scope.ts'

const READONLY = 8 // CheckFlags.Readonly, which the API does not export.
const SIMPLE =
  TypeFlags.Any |
  TypeFlags.Unknown |
  TypeFlags.String |
  TypeFlags.Number |
  TypeFlags.Boolean |
  TypeFlags.BigInt |
  TypeFlags.ESSymbol |
  TypeFlags.Void |
  TypeFlags.Undefined |
  TypeFlags.Null |
  TypeFlags.Never |
  TypeFlags.StringLiteral |
  TypeFlags.NumberLiteral |
  TypeFlags.BooleanLiteral |
  TypeFlags.TypeParameter

/** Named types by their shape, see `shapeOf`. */
export type Shapes = ReadonlyMap<string, TypeSymbol>

/**
 * The shape of a type: its text without comments and `readonly`. Types with the same shape are treated as the
 * same type.
 */
export function shapeOf(text: string): string {
  return text
    .replace(/^ *\/\*\*[\s\S]*?\*\/\n/gm, '')
    .replace(/\breadonly (?=\w+\??: )/g, '')
    .replace(/\n */g, ' ')
}

/** Writes types as text for one declaration file. */
export class TypeText {
  readonly #project: Project
  readonly #folder: string
  readonly #shapes: Shapes

  /** @param folder the folder of our own declarations */
  constructor(project: Project, folder: string, shapes: Shapes) {
    this.#project = project
    this.#folder = folder
    this.#shapes = shapes
  }

  /** Whether a symbol is declared by us, and not by a library or the language. */
  isOurs(symbol: TypeSymbol): boolean {
    return symbol.declarations.some(({ path }) => path.startsWith(join(this.#folder, '/')))
  }

  /**
   * The text of a type; it uses only names of this file. `self` is the alias that is being declared, if any.
   */
  async of(type: Type, scope: Scope, self?: TypeSymbol): Promise<string> {
    const text = await this.#wordsOf(type, scope, self)
    const named = this.#shapes.get(shapeOf(text))
    return named && named.id !== self?.id ? scope.nameOf(named) : text
  }

  async #wordsOf(type: Type, scope: Scope, self?: TypeSymbol): Promise<string> {
    const { checker } = this.#project
    const alias = await type.getAliasSymbol()
    if (
      alias &&
      alias.id !== self?.id &&
      this.isOurs(alias) &&
      (await type.getAliasTypeArguments()).length === 0
    )
      return scope.nameOf(alias)
    if (type.flags & SIMPLE) return checker.typeToString(type)
    if (type.isUnionType()) return this.#union((await type.getTypes()) ?? [], scope)
    if (type.isIntersectionType()) return this.#intersection((await type.getTypes()) ?? [], scope)
    if ((await checker.isArrayType(type)) && type.isTypeReference()) return this.#array(type, scope)
    const symbol = await type.getSymbol()
    if (symbol && symbol.flags & (SymbolFlags.Class | SymbolFlags.Interface))
      return this.isOurs(symbol) ? scope.nameOf(symbol) : checker.typeToString(type)
    const properties = await checker.getPropertiesOfType(type)
    if (!type.isObjectType() || properties.length === 0) return checker.typeToString(type)
    return this.#object(properties, scope)
  }

  async #union(types: readonly Type[], scope: Scope): Promise<string> {
    const words = new Set<string>()
    for (const type of types) {
      const text = await this.of(type, scope)
      words.add(text.includes('=>') ? `(${text})` : text)
    }
    if (words.delete('true') && words.delete('false')) words.add('boolean')
    else if (types.some((type) => type.flags & TypeFlags.BooleanLiteral)) {
      for (const type of types)
        if (type.flags & TypeFlags.BooleanLiteral) words.add(await this.#project.checker.typeToString(type))
    }
    // Branded strings have become `string`, and a union with `string` needs no string literals.
    if (words.has('string')) for (const word of words) if (word.startsWith('"')) words.delete(word)
    for (const last of ['null', 'undefined']) if (words.delete(last)) words.add(last)
    return [...words].join(' | ')
  }

  // Brands are not published: a branded type is written as its string or number.
  async #intersection(types: readonly Type[], scope: Scope): Promise<string> {
    const plain = types.find((type) => type.flags & SIMPLE)
    if (plain) return this.of(plain, scope)
    return (await Promise.all(types.map((type) => this.of(type, scope)))).join(' & ')
  }

  async #array(type: TypeReference, scope: Scope): Promise<string> {
    const { checker } = this.#project
    const [item] = await checker.getTypeArguments(type)
    if (!item) return checker.typeToString(type)
    const text = await this.of(item, scope)
    const isReadonly = (await checker.typeToString(type)).startsWith('readonly ')
    return `${isReadonly ? 'readonly ' : ''}${/^[^{]* [|&] |=>/.test(text) ? `(${text})` : text}[]`
  }

  async #object(properties: readonly TypeSymbol[], scope: Scope): Promise<string> {
    const { checker } = this.#project
    const lines: string[] = []
    for (const property of properties) {
      const doc = await checker.getDocumentationCommentOfSymbol(property)
      const type = await checker.getTypeOfSymbol(property)
      if (!type) throw new Error(`${property.name} has no type`)
      const isOptional = (property.flags & SymbolFlags.Optional) !== 0
      const text = await this.of(type, scope)
      lines.push(
        ...(doc === '' ? [] : [`/** ${doc.replaceAll('\n', '\n * ')} */`]),
        `${property.checkFlags & READONLY ? 'readonly ' : ''}${property.name}${isOptional ? '?' : ''}: ${
          isOptional ? text.replace(/ \| undefined$/, '') : text
        };`,
      )
    }
    return `{\n${lines.map((line) => line.replace(/^/gm, '    ')).join('\n')}\n}`
  }
}
