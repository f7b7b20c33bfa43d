export const LONGEST_MS: number
export const ALWAYS: Readonly<Record<string, string>>
export const AT_ONCE: number
export function leftOut(timesMs: Readonly<Record<string, number>>): string[]
export function leftOutOfShare(timesMs: Readonly<Record<string, number>>, share: string): string[]
export function withoutFiles(paths: readonly string[]): string[]
