// The payment page's one stylesheet and its script. Called while the relay's source is translated (a macro of
// Bun), so that a relay compiled to one file has them inside.
import { readFileSync } from 'node:fs'

/** The parts of the stylesheet, in the order of the cascade. */
const STYLES = ['./frame.css', './status.css', './how-to-pay.css', './choices.css']

/** The page's stylesheet. */
export function pageStyle(): string {
  return STYLES.map(read).join('\n')
}

/** The page's script, as browsers run it. */
export function pageScript(): string {
  return new Bun.Transpiler({ loader: 'ts', target: 'browser' }).transformSync(read('./browser-script.ts'))
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
