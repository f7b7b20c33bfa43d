// A build plugin that removes from the protocol what only the relay, the documents and the compiler read.
import { type ESTree, type Plugin, Visitor } from 'vite'

/** Properties of an endpoint that the client never reads. */
const UNREAD = ['rate', 'status', 'adds', 'errors', 'alsoMethod', 'largeBody', 'longReply', 'textLimits']
/** The schemas of an endpoint's input. The client checks only what an application passes to a module. */
const INPUT = ['params', 'query', 'body']
/** The tables of endpoints that no module calls. `requestThrough` accepts no endpoint of them. */
const WITHOUT_MODULES = /[/\\](?:accounts|friends)\.ts$/
/** Actions of a schema that change neither what it accepts nor what it returns. */
const WITHOUT_EFFECT = ['brand', 'description']

/**
 * Removes properties of each endpoint of a table, which is `define({ name: { … } })`, and actions of schemas,
 * which are `v.name(…)`.
 */
export const leanProtocol: Plugin = {
  name: 'lean protocol',
  enforce: 'pre',
  transform(code, path) {
    if (!/packages[/\\]protocol[/\\]src[/\\]/.test(path)) return undefined
    const unread = WITHOUT_MODULES.test(path) ? [...UNREAD, ...INPUT] : UNREAD
    return without(code, findNodes(this.parse(code, { lang: 'ts' }), unread))
  },
}

/** The nodes to remove, in the order of the source text. No node contains another one. */
function findNodes(program: ESTree.Program, unread: readonly string[]): ESTree.Node[] {
  const found: ESTree.Node[] = []
  new Visitor({
    CallExpression(call) {
      const { callee, arguments: given } = call
      if (callee.type === 'Identifier' && callee.name === 'define') {
        const fields = propertiesOf(given[0]).flatMap(({ value }) => propertiesOf(value))
        found.push(...fields.filter(({ key }) => key.type === 'Identifier' && unread.includes(key.name)))
      }
      if (isAction(callee)) found.push(call)
    },
  }).visit(program)
  return found
}

function isAction(callee: ESTree.Node): boolean {
  if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return false
  const { object, property } = callee
  return object.name === 'v' && property.type === 'Identifier' && WITHOUT_EFFECT.includes(property.name)
}

function propertiesOf(node: ESTree.Node | undefined): ESTree.ObjectProperty[] {
  if (node?.type !== 'ObjectExpression') return []
  return node.properties.filter((property) => property.type === 'Property')
}

/** The source text without these nodes and the commas after them. */
function without(code: string, nodes: readonly ESTree.Node[]): string {
  return nodes.reduceRight(
    (text, { start, end }) => text.slice(0, start) + text.slice(end).replace(/^\s*,/, ''),
    code,
  )
}
