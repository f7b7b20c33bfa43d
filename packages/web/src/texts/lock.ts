import { lock } from './en/lock.ts'
import { translated } from './texts.ts'

export const lockTexts = translated(lock, { ar: async () => (await import('./ar/lock.ts')).lock })
