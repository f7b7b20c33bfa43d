import { search } from './en/search.ts'
import { translated } from './texts.ts'

export const searchTexts = translated(search, { ar: async () => (await import('./ar/search.ts')).search })
