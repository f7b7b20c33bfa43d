// Reads what a source file imports, and blanks out what is not code, without a full parser.

export interface Import {
  specifier: string
  line: number
  /** `import type` and `export type`: gone once compiled. */
  isTypeOnly: boolean
}

export interface Source {
  imports: Import[]
  /** The text with comments and the insides of strings, templates and regular expressions as blanks, line for line. */
  code: string
}

export function scanSource(text: string): Source {
  const code = blankOutText(text)
  const imports = importForms.flatMap((form) =>
    [...code.matchAll(form)].map((match) => {
      const { type, blank = '' } = match.groups ?? {}
      // The specifier's place is known from the code, its letters only from the text.
      const end = match.index + match[0].length - 1
      return {
        specifier: text.slice(end - blank.length, end),
        line: lineAt(text, match.index),
        isTypeOnly: type !== undefined,
      }
    }),
  )
  return { imports: imports.sort((a, b) => a.line - b.line), code }
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}

const names = String.raw`\{[^{}]*\}|\*(?:\s*as\s+[\w$]+)?`
const importForms = [
  // import x, { y } from 'z' · import type { y } from 'z' · export * from 'z'
  String.raw`\b(?:import|export)\b\s*(?<type>type\b(?!\s+from\b|\s*,)\s*)?(?:(?:[\w$]+)(?:\s*,\s*(?:${names}))?|${names})\s*from\s*(?<quote>['"])(?<blank>\s*)\k<quote>`,
  // import 'z'
  String.raw`\bimport\s*(?<quote>['"])(?<blank>\s*)\k<quote>`,
  // import('z') · require('z')
  String.raw`\b(?:import|require)\s*\(\s*(?<quote>['"])(?<blank>\s*)\k<quote>`,
].map((form) => new RegExp(form, 'g'))

const literal = {
  comment: /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y,
  string: /'(?:\\[\s\S]|[^'\\\n])*'?|"(?:\\[\s\S]|[^"\\\n])*"?/y,
  // From a backtick, or from the brace that ends a substitution, to the next of either.
  template: /[`}](?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{|$)/y,
  regularExpression: /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y,
}

// A slash after one of these begins a regular expression; after a name, a number or a bracket it divides.
const beforeRegularExpression =
  /(?:[=([{,;:!&|?+\-*%~^<>}]|\b(?:return|typeof|case|in|of|await|yield|else|do)|^)\s*$/

function blankOutText(text: string): string {
  let code = ''
  // For each template we are inside of: how many braces are open within its substitution.
  const substitutions: number[] = []
  const take = (form: RegExp): string | undefined => {
    form.lastIndex = code.length
    return form.exec(text)?.[0]
  }
  const takeTemplate = () => {
    const part = take(literal.template) ?? text[code.length] ?? ''
    const opens = part.endsWith('${')
    if (opens) substitutions.push(0)
    code += blank(part, 1, opens ? 2 : 1)
  }
  while (code.length < text.length) {
    const char = text[code.length] ?? ''
    const comment = char === '/' ? take(literal.comment) : undefined
    if (comment !== undefined) code += blank(comment, 0, 0)
    else if (char === "'" || char === '"') code += blank(take(literal.string) ?? char, 1, 1)
    else if (char === '`') takeTemplate()
    else if (char === '}' && substitutions.at(-1) === 0) {
      substitutions.pop()
      takeTemplate()
    } else if (char === '/' && beforeRegularExpression.test(code.slice(-80))) {
      code += blank(take(literal.regularExpression) ?? char, 1, 1)
    } else {
      const depth = substitutions.length - 1
      if (depth >= 0 && char === '{') substitutions[depth] = (substitutions[depth] ?? 0) + 1
      if (depth >= 0 && char === '}') substitutions[depth] = (substitutions[depth] ?? 0) - 1
      code += char
    }
  }
  return code
}

function blank(part: string, keepFirst: number, keepLast: number): string {
  if (part.length <= keepFirst + keepLast) return part
  const end = part.length - keepLast
  return part.slice(0, keepFirst) + part.slice(keepFirst, end).replace(/[^\n]/g, ' ') + part.slice(end)
}
