// The types of find-postgres.mjs, which must run before TypeScript can.
export const oldestPostgres: number
export function findPostgres(env?: Record<string, string | undefined>): string | undefined
