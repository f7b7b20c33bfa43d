// Checks texts of a body against the relay's limits, which may be lower than those of the schemas.
import { type Endpoint, type Limits, ProtocolError } from '@sotto/protocol'

/** @throws ProtocolError `INVALID_FIELD` for the first text that exceeds its limit */
export function checkTexts(body: unknown, { textLimits = {} }: Endpoint, limits: Limits): void {
  const fields = new Map(Object.entries(Object(body)))
  for (const [field, name] of Object.entries(textLimits)) {
    const text = fields.get(field)
    if (typeof text !== 'string') continue
    const [size, unit] =
      name === 'postBytes' ? [Buffer.byteLength(text), 'bytes of UTF-8'] : [charactersOf(text), 'characters']
    const rule = `must be at most ${limits[name]} ${unit}`
    if (size > limits[name]) throw new ProtocolError('INVALID_FIELD', { field, rule })
  }
}

/** Code points, as the schemas count them. */
function charactersOf(text: string): number {
  return Array.from(text).length
}
