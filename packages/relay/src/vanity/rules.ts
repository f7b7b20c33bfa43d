// The price list of ids: a file that the operator edits. It is checked when it is read, and read again after
// a change.
import { readFileSync, statSync } from 'node:fs'
import { AliasId, Price, QUOTA_REF, type VanityTier, VanityTier as VanityTierSchema } from '@sotto/protocol'
import * as v from 'valibot'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import defaultRules from './default-rules.json'
import { PatternError } from './pattern-syntax.ts'
import { type PatternTable, patternTableOf } from './pattern-table.ts'

/** The price of one id. */
export interface Valuation {
  readonly tier: VanityTier
  /** Whole stablecoin units. */
  readonly price: number
  readonly isFeatured: boolean
}

/** The file is not valid. The message names the place and the rule. */
export class VanityRulesError extends Error {
  override readonly name = 'VanityRulesError'
}

/** The file is checked for changes at most this often. */
const CHECK_EVERY_MS = 1000
/** Ids that the relay assigns are never sold. Neither is QUOTA_REF, which names seats in orders. */
const ASSIGNED = /^u[0-9]{8,}$/
const MOST_ENTRIES = 100_000

/** All tables together. It bounds the time to read a file, and the memory that its tables take. */
const MOST_ROWS = 20_000

const PatternText = v.pipe(v.string(), v.maxLength(256, 'must be at most 256 characters'))
/** Ids of one character, which is one of these, at least so many times. */
const Repeated = v.strictObject({
  character: PatternText,
  at_least: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(32, 'must be at most 32')),
})
const Rule = v.pipe(
  v.strictObject({
    pattern: v.optional(PatternText),
    repeated: v.optional(Repeated),
    tier: VanityTierSchema,
    price_usdt: Price,
  }),
  v.check(
    ({ pattern, repeated }) => (pattern === undefined) !== (repeated === undefined),
    'must have either a pattern or “repeated”',
  ),
)
const Ids = v.pipe(v.array(AliasId), v.maxLength(MOST_ENTRIES))
const RulesFile = v.strictObject({
  rules: v.pipe(v.array(Rule), v.maxLength(1000)),
  featured: v.optional(v.pipe(v.array(AliasId), v.maxLength(100, 'must be at most 100')), []),
  reserved: v.optional(Ids, []),
})

interface PricedIds {
  readonly tier: VanityTier
  readonly price: number
  matches(id: string): boolean
}

interface Rules {
  readonly rules: readonly PricedIds[]
  readonly featured: ReadonlySet<AliasId>
  readonly reserved: ReadonlySet<string>
}

/** The price list in force. */
export class VanityRules {
  readonly #file: string | undefined
  readonly #clock: Clock
  readonly #log: Log
  #rules: Rules
  #version = ''
  #checkedAt: number

  /**
   * @param file the operator's file; undefined: the rules that come with the relay @throws VanityRulesError
   */
  constructor(file: string | undefined, parts: { clock: Clock; log: Log }) {
    this.#file = file
    this.#clock = parts.clock
    this.#log = parts.log
    this.#checkedAt = parts.clock.monotonic()
    this.#version = file === undefined ? '' : versionOf(file)
    this.#rules = file === undefined ? compile(JSON.stringify(defaultRules)) : read(file)
  }

  /** The current price of an id; undefined if no rule prices it or it is reserved. */
  valuate(id: AliasId): Valuation | undefined {
    const { rules, featured, reserved } = this.#current()
    if (ASSIGNED.test(id) || id === QUOTA_REF || reserved.has(id)) return undefined
    const rule = rules.find((each) => each.matches(id))
    return rule && { tier: rule.tier, price: rule.price, isFeatured: featured.has(id) }
  }

  /** The featured ids. Some of them may be reserved or taken; `valuate` and the search leave those out. */
  featured(): AliasId[] {
    return [...this.#current().featured]
  }

  #current(): Rules {
    const now = this.#clock.monotonic()
    if (this.#file === undefined || now - this.#checkedAt < CHECK_EVERY_MS) return this.#rules
    this.#checkedAt = now
    // If the file is not valid, for example during an edit, the last valid rules stay in force.
    try {
      const version = versionOf(this.#file)
      if (version === this.#version) return this.#rules
      this.#version = version
      this.#rules = read(this.#file)
      this.#log.info('vanity_rules_read', { count: this.#rules.rules.length })
    } catch (error) {
      this.#log.error('vanity_rules_refused', {
        reason: error instanceof Error ? error.message : String(error),
      })
    }
    return this.#rules
  }
}

function versionOf(file: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(file)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    throw new VanityRulesError(`${file} cannot be read`)
  }
}

function read(file: string): Rules {
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new VanityRulesError(`${file} cannot be read`)
  }
  try {
    return compile(text)
  } catch (error) {
    if (error instanceof VanityRulesError) throw new VanityRulesError(`${file}: ${error.message}`)
    throw error
  }
}

function compile(text: string): Rules {
  const { success, issues, output } = v.safeParse(RulesFile, parse(text))
  if (!success) {
    const [issue] = issues
    throw new VanityRulesError(`${v.getDotPath(issue) ?? 'the file'} ${issue.message}`)
  }
  let rows = 0
  const tableOf = (pattern: string, place: string): PatternTable => {
    const table = tableAt(pattern, `${place}${lineOf(pattern, text)}`)
    rows += table.rows
    if (rows > MOST_ROWS)
      throw new VanityRulesError(`the patterns up to ${place} are too large together: over ${MOST_ROWS} rows`)
    return table
  }
  const rules = output.rules.map(({ pattern, repeated, tier, price_usdt: price }, index) => {
    if (pattern !== undefined) {
      const table = tableOf(pattern, `rules.${index}.pattern`)
      return { tier, price, matches: table.matches }
    }
    if (!repeated) throw new Error('a rule has neither a pattern nor a repeated character')
    const { matches } = tableOf(repeated.character, `rules.${index}.repeated.character`)
    const isRepeated = (id: string): boolean =>
      id.length >= repeated.at_least && matches(id.charAt(0)) && id === id.charAt(0).repeat(id.length)
    return { tier, price, matches: isRepeated }
  })
  return {
    rules,
    featured: new Set(output.featured),
    reserved: new Set(output.reserved),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new VanityRulesError('is not JSON')
  }
}

function tableAt(pattern: string, place: string): PatternTable {
  try {
    return patternTableOf(pattern)
  } catch (error) {
    if (error instanceof PatternError) throw new VanityRulesError(`${place} ${error.message}`)
    throw error
  }
}

// Where a pattern stands in the file, if it is written there in the usual way.
function lineOf(pattern: string, text: string): string {
  const at = text.indexOf(JSON.stringify(pattern))
  return at < 0 ? '' : ` (line ${text.slice(0, at).split('\n').length})`
}
