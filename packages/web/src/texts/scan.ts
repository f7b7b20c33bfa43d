import { scan } from './en/scan.ts'
import { translated } from './texts.ts'

export const scanTexts = translated(scan, { ar: async () => (await import('./ar/scan.ts')).scan })
