// Reads Markdown into a tree that is safe to show: no HTML, no pictures, links to the web and mail only, and
// little nesting, whatever an author writes.
import MarkdownIt, { type Token } from 'markdown-it'

/** The elements that a post can have, by the names that the tree gives them. */
export type ElementName =
  | 'paragraph'
  | 'heading'
  | 'quote'
  | 'bullets'
  | 'numbers'
  | 'item'
  | 'strong'
  | 'emphasis'
  | 'struck'

/** A piece of a post. */
export type MarkdownNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string; readonly isBlock: boolean }
  | { readonly kind: 'break' }
  | { readonly kind: 'rule' }
  | { readonly kind: 'link'; readonly href: string; readonly children: readonly MarkdownNode[] }
  | {
      readonly kind: 'element'
      readonly name: ElementName
      /** The first number of `numbers`. */
      readonly start: number
      readonly children: readonly MarkdownNode[]
    }

/** Elements within more of them are shown as if they were beside them. */
const MOST_DEPTH = 12
/** The parser leaves out what is within more blocks than this. */
const MOST_LEVELS = 40
const LINKS = ['http:', 'https:', 'mailto:']
const ELEMENTS: Readonly<Record<string, ElementName>> = {
  paragraph: 'paragraph',
  heading: 'heading',
  blockquote: 'quote',
  bullet_list: 'bullets',
  ordered_list: 'numbers',
  list_item: 'item',
  strong: 'strong',
  em: 'emphasis',
  s: 'struck',
}

const parser = new MarkdownIt('default', {
  html: false,
  linkify: true,
  typographer: false,
  maxNesting: MOST_LEVELS,
})
parser.disable(['table', 'reference'])
// Links are checked where the tree is built, pictures among them.
parser.validateLink = () => true

/** Reads a text. What is not Markdown stays text, and so does what is nested too deeply. */
export function readMarkdown(text: string): readonly MarkdownNode[] {
  const tokens = parser.parse(text, {})
  if (tokens.every(({ level }) => level < MOST_LEVELS - 1)) return treeOf(tokens)
  return [{ kind: 'element', name: 'paragraph', start: 1, children: [{ kind: 'text', text }] }]
}

/**
 * The address that a link may lead to, as the browser will read it: international names of hosts in their
 * plain form, nothing that reverses the direction of writing. Undefined if it leads elsewhere than to the web
 * or a mailbox.
 */
export function linkTarget(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { protocol, href } = new URL(address)
  return LINKS.includes(protocol) ? href : undefined
}

/** The words of pieces, without their form. */
export function textOf(nodes: readonly MarkdownNode[]): string {
  return nodes
    .map((node) => ('text' in node ? node.text : 'children' in node ? textOf(node.children) : ' '))
    .join('')
}

interface Open {
  /** What closes it; undefined for an element that is too deep to be shown. */
  readonly build: ((children: readonly MarkdownNode[]) => readonly MarkdownNode[]) | undefined
  readonly children: MarkdownNode[]
}

// The parser gives the tokens in one row: `…_open`, the content, `…_close`. They are read without
// recursion, so that no nesting is too deep.
function treeOf(tokens: readonly Token[]): readonly MarkdownNode[] {
  const root: MarkdownNode[] = []
  const open: Open[] = []
  let depth = 0
  const into = (): MarkdownNode[] => open.at(-1)?.children ?? root
  for (const token of tokens.flatMap((each) => (each.type === 'inline' ? (each.children ?? []) : [each]))) {
    if (token.nesting === 1) {
      const build = depth < MOST_DEPTH ? builderOf(token) : undefined
      if (build) depth += 1
      open.push({ build, children: build ? [] : into() })
    } else if (token.nesting === -1) {
      const closed = open.pop()
      if (!closed?.build) continue
      depth -= 1
      into().push(...closed.build(closed.children))
    } else into().push(...leavesOf(token))
  }
  return root
}

function builderOf(token: Token): Open['build'] {
  if (token.hidden) return undefined
  if (token.type === 'link_open') {
    const href = linkTarget(attribute(token, 'href'))
    return (children) => (href === undefined ? children : [{ kind: 'link', href, children }])
  }
  const name = ELEMENTS[token.type.replace(/_open$/, '')]
  const start = Number(attribute(token, 'start') || 1)
  return name && ((children) => [{ kind: 'element', name, start, children }])
}

function leavesOf(token: Token): readonly MarkdownNode[] {
  switch (token.type) {
    case 'softbreak':
    case 'hardbreak':
      return [{ kind: 'break' }]
    case 'hr':
      return [{ kind: 'rule' }]
    case 'code_inline':
      return [{ kind: 'code', text: token.content, isBlock: false }]
    case 'fence':
    case 'code_block':
      return [{ kind: 'code', text: token.content.replace(/\n$/, ''), isBlock: true }]
    case 'image':
      return pictureOf(token)
    default:
      return token.content === '' ? [] : [{ kind: 'text', text: token.content }]
  }
}

/** A picture is not loaded, because its server would learn who reads the post. */
function pictureOf(token: Token): readonly MarkdownNode[] {
  const address = attribute(token, 'src')
  const text = token.content || address
  const href = linkTarget(address)
  const words: MarkdownNode = { kind: 'text', text }
  return text === '' ? [] : [href === undefined ? words : { kind: 'link', href, children: [words] }]
}

function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? '')
}
