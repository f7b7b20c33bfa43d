// A call's frame as text. It is forwarded as it was written, since parsing and writing it again would change what the
// relay does not know: numbers, the order of names, members called __proto__.
import { type AliasId, ProtocolError } from '@sotto/protocol'

const KNOWN = new Set(['type', 'to', 'call_id', 'from', 'crypto_v', 'payload'])

/**
 * Holds a frame to having each field the relay looks at once. Of two, readers disagree on which one counts: the relay
 * would check the one and the callee believe the other.
 * @param text a JSON object
 * @throws ProtocolError `INVALID_FIELD`
 */
export function checkNamesOnce(text: string): void {
  const seen = new Set<string>()
  for (const field of memberNames(text)) {
    if (!KNOWN.has(field)) continue
    if (seen.has(field)) throw new ProtocolError('INVALID_FIELD', { field, rule: 'must be there once' })
    seen.add(field)
  }
}

/** The frame with a `from` at its end. @param text a JSON object that is not empty and has none */
export function withFrom(text: string, from: AliasId): string {
  const end = text.lastIndexOf('}')
  return `${text.slice(0, end)},"from":${JSON.stringify(from)}${text.slice(end)}`
}

/** The names of an object's own members as they stand in its text, those that stand there twice as well. */
function* memberNames(text: string): Generator<string> {
  let depth = 0
  let name = ''
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"': {
        const end = endOfString(text, at)
        if (depth === 1) name = text.slice(at, end)
        at = end - 1
        break
      }
      case ':':
        // JSON.parse, since a name can be written with escapes.
        if (depth === 1) yield String(JSON.parse(name))
        break
      case '{':
      case '[':
        depth += 1
        break
      case '}':
      case ']':
        depth -= 1
        break
      default:
    }
  }
}

/** Where a string ends that begins here, the closing quote included. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}
