import { changes } from './en/changes.ts'
import { translated } from './texts.ts'

export const changesTexts = translated(changes, { ar: async () => (await import('./ar/changes.ts')).changes })
