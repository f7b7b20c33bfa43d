export const appFolder: string
export const adminFolder: string
export function ensureApp(): void
export function ensureAppOrExit(): void
export function buildApp(): void
