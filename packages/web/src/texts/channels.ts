import { channels } from './en/channels.ts'
import { translated } from './texts.ts'
import './later-errors.ts'

export const channelsTexts = translated(channels, {
  ar: async () => (await import('./ar/channels.ts')).channels,
})
