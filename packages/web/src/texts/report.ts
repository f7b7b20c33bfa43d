import { report } from './en/report.ts'
import { translated } from './texts.ts'

export const reportTexts = translated(report, { ar: async () => (await import('./ar/report.ts')).report })
