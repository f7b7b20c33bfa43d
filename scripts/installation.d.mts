export const root: string
export const bunPath: string
export const stampPath: string
export function isStampCurrent(): boolean
export function describeInstallation(): string
