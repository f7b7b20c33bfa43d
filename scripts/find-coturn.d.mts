// The types of find-coturn.mjs, which must run before TypeScript can.
export function findCoturn(env?: Record<string, string | undefined>): string | undefined
