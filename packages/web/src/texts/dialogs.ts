import { dialogs } from './en/dialogs.ts'
import { translated } from './texts.ts'

export const dialogsTexts = translated(dialogs, { ar: async () => (await import('./ar/dialogs.ts')).dialogs })
