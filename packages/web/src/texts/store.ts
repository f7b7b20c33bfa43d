import { store } from './en/store.ts'
import { translated } from './texts.ts'

export const storeTexts = translated(store, { ar: async () => (await import('./ar/store.ts')).store })
