// The programs of the documents: their TypeScript blocks put together, for Bun and Node or for a page.
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../../../..')
/** The guide. */
export const GUIDE = join(ROOT, 'docs/client/guide.md')
/** What npm shows of the package. */
export const README = join(ROOT, 'packages/client/README.md')

/** A program of the guide. */
export interface Program {
  readonly source: string
  /** The lines it prints, as its comments `// prints: …` say. */
  readonly prints: readonly string[]
}

/**
 * The blocks of one kind in a document, in order. `ts` is the program for Bun and Node, `ts page` and `ts call` those for pages.
 * @param relayUrl stands in for the address in the guide
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
