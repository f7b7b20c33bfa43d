import { shop } from './en/shop.ts'
import { translated } from './texts.ts'
import './later-errors.ts'

export const shopTexts = translated(shop, { ar: async () => (await import('./ar/shop.ts')).shop })
