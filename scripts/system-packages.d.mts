/** Installs the missing programs and fonts if it can. Returns text about those that are still missing. */
export function ensureSystemPackages(): string | undefined
