// The price list of ids: a file that the operator edits. It is checked when it is read, and read again after
// a change.
import { readFileSync, statSync } from 'node:fs'
import { AliasId, Price, QUOTA_REF, type VanityTier, VanityTier as VanityTierSchema } from '@sotto/protocol'
import * as v from 'valibot'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import defaultRules from './default-rules.json'
import { isQuick } from './pattern-time.ts'

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

const Pattern = v.pipe(
  v.string(),
  v.maxLength(256, 'must be at most 256 characters'),
  v.check(isPattern, 'must be a regular expression'),
)
const Ids = v.pipe(v.array(AliasId), v.maxLength(MOST_ENTRIES))
const RulesFile = v.strictObject({
  rules: v.pipe(
    v.array(v.strictObject({ pattern: Pattern, tier: VanityTierSchema, price_usdt: Price })),
    v.maxLength(1000),
  ),
  featured: v.optional(v.pipe(v.array(AliasId), v.maxLength(100, 'must be at most 100')), []),
  reserved: v.optional(Ids, []),
})

interface Rules {
  readonly rules: readonly { readonly matches: RegExp; readonly tier: VanityTier; readonly price: number }[]
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
    this.#rules = file === undefined ? compile(defaultRules, parts.clock) : read(file, parts.clock)
  }

  /** The current price of an id; undefined if no rule prices it or it is reserved. */
  valuate(id: AliasId): Valuation | undefined {
    const { rules, featured, reserved } = this.#current()
    if (ASSIGNED.test(id) || id === QUOTA_REF || reserved.has(id)) return undefined
    const rule = rules.find(({ matches }) => matches.test(id))
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
      this.#rules = read(this.#file, this.#clock)
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

function read(file: string, clock: Clock): Rules {
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new VanityRulesError(`${file} cannot be read`)
  }
  try {
    return compile(JSON.parse(text), clock)
  } catch (error) {
    const what = error instanceof VanityRulesError ? error.message : 'is not JSON'
    throw new VanityRulesError(`${file}: ${what}`)
  }
}

function compile(given: unknown, clock: Clock): Rules {
  const { success, issues, output } = v.safeParse(RulesFile, given)
  if (!success) {
    const [issue] = issues
    throw new VanityRulesError(`${v.getDotPath(issue) ?? 'the file'} ${issue.message}`)
  }
  const rules = output.rules.map(({ pattern, tier, price_usdt }) => ({
    matches: new RegExp(`^(?:${pattern})$`, 'u'),
    tier,
    price: price_usdt,
  }))
  const slow = rules.findIndex(({ matches }) => !isQuick(matches, clock))
  if (slow >= 0) throw new VanityRulesError(`rules.${slow}.pattern takes too long for some ids`)
  return {
    rules,
    featured: new Set(output.featured),
    reserved: new Set(output.reserved),
  }
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(`^(?:${text})$`, 'u') instanceof RegExp
  } catch {
    return false
  }
}
