// Amounts as processors write them: decimal text, reckoned with as whole numbers and never as floating point.

/** `digits` × 10^-`scale`. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

const DECIMAL =
  /^(?<sign>-?)(?<whole>[0-9]{1,40})(?:\.(?<part>[0-9]{1,40}))?(?:[eE](?<exponent>[+-]?[0-9]{1,2}))?$/

/** Undefined where it is no number, or one of more than 80 digits or an exponent past two. */
export function decimalOf(text: string): Decimal | undefined {
  const groups = DECIMAL.exec(text)?.groups
  if (!groups) return undefined
  const { sign = '', whole = '', part = '', exponent = '0' } = groups
  const scale = part.length - Number(exponent)
  const digits = BigInt(`${sign}${whole}${part}`)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

/** A share of something: `paid` of `of`, as one fraction. */
export interface Share {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** What `paid` is of `of`, which is above 0. */
export function shareOf(paid: Decimal, of: Decimal): Share {
  return {
    numerator: paid.digits * 10n ** BigInt(of.scale),
    denominator: of.digits * 10n ** BigInt(paid.scale),
  }
}

export function addShares(one: Share, other: Share): Share {
  return {
    numerator: one.numerator * other.denominator + other.numerator * one.denominator,
    denominator: one.denominator * other.denominator,
  }
}

/** That share of a whole, in the whole's smallest unit, rounded down. */
export function partOf(whole: bigint, { numerator, denominator }: Share): bigint {
  return (whole * numerator) / denominator
}

/** The same, rounded up. */
export function partOfRoundedUp(whole: bigint, { numerator, denominator }: Share): bigint {
  return (whole * numerator + denominator - 1n) / denominator
}

/** A price in USD in millionths, rounded down: how `usdt` is counted. */
export function millionthsOf({ digits, scale }: Decimal): bigint {
  return (digits * 1_000_000n) / 10n ** BigInt(scale)
}
