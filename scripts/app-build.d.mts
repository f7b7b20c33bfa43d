export const appFolder: string
export function ensureApp(): void
export function ensureAppOrExit(): void
export function buildApp(): void
