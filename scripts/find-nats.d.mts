/** The program `nats-server`, or undefined. */
export function findNats(env?: Record<string, string | undefined>): string | undefined
