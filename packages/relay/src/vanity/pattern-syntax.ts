// Reads a pattern of the price list: the part of JavaScript's regular expressions (flag `u`) that a table can
// decide. What it accepts means exactly what it means in JavaScript; everything else is refused.

/** A pattern, as a tree. */
export type Pattern =
  /** One character, out of these. */
  | { readonly kind: 'character'; readonly of: string }
  | { readonly kind: 'sequence'; readonly parts: readonly Pattern[] }
  | { readonly kind: 'choice'; readonly options: readonly Pattern[] }
  /** `most` may be Infinity. */
  | { readonly kind: 'repetition'; readonly part: Pattern; readonly least: number; readonly most: number }

/** The pattern cannot be used. The message names the place and the rule. */
export class PatternError extends Error {
  override readonly name = 'PatternError'
}

/** The characters of ids. A pattern may name others, but no id has them. */
export const ID_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789_'

const DIGITS = '0123456789'
/** What the escapes for several characters mean among the characters of ids. */
const ESCAPES: Readonly<Record<string, string>> = { d: DIGITS, w: ID_CHARACTERS, s: '' }
const SYNTAX_CHARACTERS = '^$\\.*+?()[]{}|/'
const SIMPLE_QUANTIFIERS: Readonly<Record<string, readonly [number, number]>> = {
  '*': [0, Number.POSITIVE_INFINITY],
  '+': [1, Number.POSITIVE_INFINITY],
  '?': [0, 1],
}

/** Reads a pattern, which must match the whole id. @throws PatternError */
export function readPattern(text: string): Pattern {
  if (!isRegularExpression(text)) throw new PatternError('must be a regular expression')
  return new Reader(text).read()
}

function isRegularExpression(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}

// The text is a valid regular expression, so the reader only looks for what it cannot accept.
class Reader {
  readonly #characters: readonly string[]
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#characters = [...text]
  }

  read(): Pattern {
    return this.#choice()
  }

  #choice(): Pattern {
    const options = [this.#sequence()]
    while (this.#take('|')) options.push(this.#sequence())
    return options.length === 1 && options[0] ? options[0] : { kind: 'choice', options }
  }

  // A pattern always matches the whole id. Written at its ends, `^` and `$` change nothing.
  #sequence(): Pattern {
    if (this.#depth === 0) this.#take('^')
    const parts: Pattern[] = []
    while (!this.#isAtEnd()) {
      if (this.#depth === 0 && this.#take('$')) {
        if (!this.#isAtEnd()) this.#refuse('“$” can only be at the end')
        break
      }
      parts.push(this.#quantified(this.#atom()))
    }
    return { kind: 'sequence', parts }
  }

  #isAtEnd(): boolean {
    const next = this.#characters[this.#at]
    return next === undefined || next === '|' || next === ')'
  }

  #atom(): Pattern {
    const character = this.#next()
    switch (character) {
      case '(':
        return this.#group()
      case '[':
        return { kind: 'character', of: this.#set() }
      case '.':
        return { kind: 'character', of: ID_CHARACTERS }
      case '\\':
        return { kind: 'character', of: this.#escape() }
      case '^':
      case '$':
        return this.#refuse(`“${character}” can only be at the beginning or the end`)
      default:
        return { kind: 'character', of: idCharacter(character) }
    }
  }

  #group(): Pattern {
    if (this.#take('?') && !this.#take(':')) this.#groupName()
    this.#depth += 1
    const inside = this.#choice()
    this.#depth -= 1
    this.#take(')')
    return inside
  }

  #groupName(): void {
    const [first, second] = this.#characters.slice(this.#at)
    if (first !== '<' || second === '=' || second === '!')
      this.#refuse('a group can only begin with “(”, “(?:” or “(?<name>”')
    while (this.#next() !== '>');
  }

  #escape(): string {
    const character = this.#next()
    const meaning = ESCAPES[character.toLowerCase()]
    if (meaning !== undefined) return character === character.toLowerCase() ? meaning : otherThan(meaning)
    if (character === 'k' || /[1-9]/.test(character))
      this.#refuse(`“\\${character}” is a back reference; “repeated” is for ids of one character`)
    if (character !== '-' && !SYNTAX_CHARACTERS.includes(character))
      this.#refuse(`“\\${character}” is not supported`)
    return idCharacter(character)
  }

  #set(): string {
    const isNegated = this.#take('^')
    let accepted = ''
    while (!this.#take(']')) {
      const first = this.#next()
      const single = first === '\\' ? this.#escape() : idCharacter(first)
      const isRange = this.#characters[this.#at] === '-' && this.#characters[this.#at + 1] !== ']'
      if (!isRange) {
        accepted += single
        continue
      }
      this.#at += 1
      const last = this.#next()
      if (first === '\\' || last === '\\') this.#refuse('a range can only be between two plain characters')
      accepted += [...ID_CHARACTERS].filter((each) => first <= each && each <= last).join('')
    }
    return isNegated ? otherThan(accepted) : accepted
  }

  #quantified(part: Pattern): Pattern {
    const bounds = this.#quantifier()
    if (!bounds) return part
    this.#take('?') // How much it prefers to take does not change what it matches.
    const [least, most] = bounds
    return { kind: 'repetition', part, least, most }
  }

  #quantifier(): readonly [number, number] | undefined {
    const simple = SIMPLE_QUANTIFIERS[this.#characters[this.#at] ?? '']
    if (simple) this.#at += 1
    if (simple || !this.#take('{')) return simple
    let bounds = ''
    while (!this.#take('}')) bounds += this.#next()
    const [least = '', most] = bounds.split(',')
    if (most === undefined) return [Number(least), Number(least)]
    return [Number(least), most === '' ? Number.POSITIVE_INFINITY : Number(most)]
  }

  #take(character: string): boolean {
    const isNext = this.#characters[this.#at] === character
    if (isNext) this.#at += 1
    return isNext
  }

  #next(): string {
    const character = this.#characters[this.#at]
    if (character === undefined) throw new Error('a valid regular expression ended too early')
    this.#at += 1
    return character
  }

  #refuse(rule: string): never {
    throw new PatternError(`cannot be used: ${rule} (character ${this.#at})`)
  }
}

function idCharacter(character: string): string {
  return ID_CHARACTERS.includes(character) ? character : ''
}

function otherThan(characters: string): string {
  return [...ID_CHARACTERS].filter((each) => !characters.includes(each)).join('')
}
