import { calls } from './en/calls.ts'
import { translated } from './texts.ts'

export const callsTexts = translated(calls, { ar: async () => (await import('./ar/calls.ts')).calls })
