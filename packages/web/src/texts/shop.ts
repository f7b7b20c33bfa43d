import { shop } from './en/shop.ts'
import { translated } from './texts.ts'

export const shopTexts = translated(shop, { ar: async () => (await import('./ar/shop.ts')).shop })
