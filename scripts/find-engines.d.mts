export function findFirefox(): string | undefined
export function findWebKit(): { readonly driver: string; readonly display: string } | undefined
