// An alias as a QR code, for another phone to scan.
import { renderUnicodeCompact } from 'uqr'

/**
 * The code, two modules per line and column. The light modules are drawn, so colours are set if the terminal
 * has any.
 */
export function qrOf(text: string, hasColour: boolean): string {
  const code = renderUnicodeCompact(text, { border: 2 })
  if (!hasColour) return code
  return code
    .split('\n')
    .map((row) => `\u001b[97;40m${row}\u001b[0m`)
    .join('\n')
}
