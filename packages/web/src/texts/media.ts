import { media } from './en/media.ts'
import { translated } from './texts.ts'
import './later-errors.ts'

export const mediaTexts = translated(media, { ar: async () => (await import('./ar/media.ts')).media })
