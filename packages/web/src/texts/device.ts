import { device } from './en/device.ts'
import { translated } from './texts.ts'

export const deviceTexts = translated(device, { ar: async () => (await import('./ar/device.ts')).device })
