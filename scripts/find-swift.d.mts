// The types of find-swift.mjs, which must run before TypeScript can.
export function findSwift(env?: Record<string, string | undefined>): string | undefined
