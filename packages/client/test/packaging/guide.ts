// The programs in the documents: their TypeScript blocks joined in order, for Bun and Node or for a page.
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../../../..')
export const GUIDE = join(ROOT, 'docs/client/guide.md')
/** The README that npm shows for the package. */
export const README = join(ROOT, 'packages/client/README.md')

/**
 * A file that a document has as one block, named after the block's language.
 * @throws if no block has the name
 */
export async function fileOf(document: string, name: string): Promise<string> {
  const blocks = (await Bun.file(document).text()).matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)
  const found = [...blocks].find(([, info]) => info === name)?.[2]
  if (found === undefined) throw new Error(`${document} has no file ${name}`)
  return found
}

/** A program from a document. */
export interface Program {
  readonly source: string
  /** The lines it should print, from its comments `// prints: …`. */
  readonly prints: readonly string[]
}

/**
 * Joins the blocks of one kind in a document, in order. `ts` is the program for Bun and Node. `ts page` and
 * `ts call` are programs for pages.
 * @param relayUrl replaces the address in the document
 */
export async function programOf(
  document: string,
  kind: 'ts' | 'ts page' | 'ts call',
  relayUrl: string,
): Promise<Program> {
  const text = await Bun.file(document).text()
  const blocks = [...text.matchAll(/^```(ts(?: page| call)?)\n([\s\S]*?)^```$/gm)]
  const source = blocks
    .filter(([, info]) => info === kind)
    .map(([, , code]) => code)
    .join('\n')
  if (!source.includes("'http://localhost:8080'")) throw new Error(`no program of ${kind} names a relay`)
  const prints = [...source.matchAll(/\/\/ prints: (.*)$/gm)].map(([, line = '']) => line)
  return { source: source.replaceAll("'http://localhost:8080'", JSON.stringify(relayUrl)), prints }
}
