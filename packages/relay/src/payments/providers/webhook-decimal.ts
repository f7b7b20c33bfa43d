// Amounts as processors write them: decimal text. Calculates with integers, never with floating point.

/** `digits` × 10^-`scale`. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

const DECIMAL =
  /^(?<sign>-?)(?<whole>[0-9]{1,40})(?:\.(?<part>[0-9]{1,40}))?(?:[eE](?<exponent>[+-]?[0-9]{1,2}))?$/

/**
 * Parses a decimal number; undefined if it is not a number, has more than 80 digits, or an exponent of more
 * than two digits.
 */
export function decimalOf(text: string): Decimal | undefined {
  const groups = DECIMAL.exec(text)?.groups
  if (!groups) return undefined
  const { sign = '', whole = '', part = '', exponent = '0' } = groups
  const scale = part.length - Number(exponent)
  const digits = BigInt(`${sign}${whole}${part}`)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

/** The share `paid` / `of`, as one fraction. */
export interface Share {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** The share that `paid` is of `of`, which must be above 0. */
export function shareOf(paid: Decimal, of: Decimal): Share {
  return {
    numerator: paid.digits * 10n ** BigInt(of.scale),
    denominator: of.digits * 10n ** BigInt(paid.scale),
  }
}

/** A share of a whole, in the whole's smallest unit, rounded down. */
export function partOf(whole: bigint, { numerator, denominator }: Share): bigint {
  return (whole * numerator) / denominator
}

/** Like {@link partOf}, rounded up. */
export function partOfRoundedUp(whole: bigint, { numerator, denominator }: Share): bigint {
  return (whole * numerator + denominator - 1n) / denominator
}

/** A price in USD in millionths, rounded down: the unit of the asset `usdt`. */
export function millionthsOf({ digits, scale }: Decimal): bigint {
  return (digits * 1_000_000n) / 10n ** BigInt(scale)
}
