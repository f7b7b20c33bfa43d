// Checks that comments are within the formatter's width: the formatter wraps only code. Run by `npm run
// check`.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync } from 'oxc-parser'
import biome from '../biome.json'
import { listSources } from './source-reader.ts'

const { lineWidth } = biome.formatter

/** @returns one violation for each line of a comment that is too wide: `file:line: rule`. */
export function findWideComments(path: string, text: string): string[] {
  const lines = text.split('\n')
  // Few files have a line that is too wide. Parsing the others would take longer than all other work here.
  if (!lines.some(isWide)) return []
  const { comments } = parseSync(path, text)
  let end = -1
  return lines.flatMap((line, index) => {
    end += line.length + 1
    const endsInComment = comments.some((comment) => comment.start < end && end <= comment.end)
    if (!endsInComment || !isWide(line) || cannotBeBroken(line)) return []
    return [`${path}:${index + 1}: a comment is wider than ${lineWidth} columns`]
  })
}

function isWide(line: string): boolean {
  return Bun.stringWidth(line) > lineWidth
}

// Whether the line is a row of a table or contains a URL.
function cannotBeBroken(line: string): boolean {
  return /^\s*(\/\/|\*) *\|/.test(line) || line.includes('://')
}

if (import.meta.main) {
  const root = dirname(import.meta.dir)
  const wide = listSources(root).flatMap((path) =>
    findWideComments(path, readFileSync(join(root, path), 'utf8')),
  )
  for (const violation of wide) console.error(violation)
  if (wide.length > 0) process.exitCode = 1
}
