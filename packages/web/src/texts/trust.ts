import { trust } from './en/trust.ts'
import { translated } from './texts.ts'

export const trustTexts = translated(trust, { ar: async () => (await import('./ar/trust.ts')).trust })
