// Works on call frames as text. They are forwarded as the sender wrote them, because parsing and writing them
// again could change content that the relay does not know: numbers, the order of names, members called
// __proto__.
import { type AliasId, ProtocolError } from '@sotto/protocol'

const KNOWN = new Set(['type', 'to', 'call_id', 'from', 'crypto_v', 'payload'])

/**
 * Checks that each field that the relay reads occurs only once. If a name occurs twice, JSON parsers disagree
 * on which one counts: the relay could check one value, and the callee use the other.
 * @param text a JSON object
 * @throws ProtocolError `INVALID_FIELD`
 */
export function checkNamesOnce(text: string): void {
  const seen = new Set<string>()
  for (const field of memberNames(text)) {
    if (!KNOWN.has(field)) continue
    if (seen.has(field)) throw new ProtocolError('INVALID_FIELD', { field, rule: 'must appear only once' })
    seen.add(field)
  }
}

/** Adds `from` at the end of a frame. @param text a JSON object that is not empty and has no `from` */
export function withFrom(text: string, from: AliasId): string {
  const end = text.lastIndexOf('}')
  return `${text.slice(0, end)},"from":${JSON.stringify(from)}${text.slice(end)}`
}

/**
 * The names of an object's members in the order of its text, including repeated ones. Not those of nested
 * objects.
 */
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
        // JSON.parse, because a name may contain escapes.
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

/** The end of the string that begins at `start`, after its closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}
