// Amounts of assets with different decimals in one scale, as exact integers.

/** The number of decimal places of values. No accepted asset has more. */
export const VALUE_DECIMALS = 18

/** An amount of an asset. */
interface Amount {
  /** In the asset's smallest unit. */
  readonly amount: string
  /** Null if orders cannot be paid in the asset. */
  readonly decimals: number | null
}

/** The value of an amount in units of 10^-18; 0 for an asset in which orders cannot be paid. */
export function worthOf({ amount, decimals }: Amount): bigint {
  return decimals === null ? 0n : BigInt(amount) * unitValue(decimals)
}

/** The value of all amounts together. */
export function sumOf(amounts: readonly Amount[]): bigint {
  return amounts.reduce((sum, amount) => sum + worthOf(amount), 0n)
}

/** The value of a price in whole units. */
export function valueOfPrice(price: number): bigint {
  return BigInt(price) * unitValue(0)
}

/** A value in the smallest unit of an asset, rounded down: what of it can be given back. */
export function unitsIn(value: bigint, decimals: number): bigint {
  return value / unitValue(decimals)
}

/** A value in the smallest unit of an asset, rounded up: what pays it. */
export function unitsThatPay(value: bigint, decimals: number): bigint {
  return (value + unitValue(decimals) - 1n) / unitValue(decimals)
}

// The value of an asset's smallest unit.
function unitValue(decimals: number): bigint {
  return 10n ** BigInt(VALUE_DECIMALS - decimals)
}
