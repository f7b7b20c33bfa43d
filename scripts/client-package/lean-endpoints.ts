// A build plugin that removes from the endpoint tables the properties that only the relay and the documents
// read.
import { type ESTree, type Plugin, Visitor } from 'vite'

const UNREAD = ['rate', 'status', 'adds', 'errors']

/**
 * Removes rate, success status, `adds` and errors from each endpoint of a table, which is
 * `define({ name: { … } })`.
 */
export const leanEndpoints: Plugin = {
  name: 'lean endpoints',
  enforce: 'pre',
  transform(code, path) {
    if (!/packages[/\\]protocol[/\\]src[/\\]endpoints[/\\]/.test(path)) return undefined
    return without(code, findUnread(this.parse(code, { lang: 'ts' })))
  },
}

/** The properties to remove, in the order of the source text. */
function findUnread(program: ESTree.Program): ESTree.ObjectProperty[] {
  const unread: ESTree.ObjectProperty[] = []
  new Visitor({
    CallExpression({ callee, arguments: [table] }) {
      if (callee.type !== 'Identifier' || callee.name !== 'define') return
      const fields = propertiesOf(table).flatMap(({ value }) => propertiesOf(value))
      unread.push(...fields.filter(({ key }) => key.type === 'Identifier' && UNREAD.includes(key.name)))
    },
  }).visit(program)
  return unread
}

function propertiesOf(node: ESTree.Node | undefined): ESTree.ObjectProperty[] {
  if (node?.type !== 'ObjectExpression') return []
  return node.properties.filter((property) => property.type === 'Property')
}

/** The source text without these nodes and the commas after them. */
function without(code: string, nodes: readonly ESTree.ObjectProperty[]): string {
  return nodes.reduceRight(
    (text, { start, end }) => text.slice(0, start) + text.slice(end).replace(/^\s*,/, ''),
    code,
  )
}
