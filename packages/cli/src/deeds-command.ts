// sotto deeds: what the operator did to accounts and channels.
import { type Command, textFlag } from './command.ts'
import { at, commonFlags, print, tell } from './moderation-flags.ts'
import { deedsText } from './moderation-text.ts'

export const deedsCommand: Command = {
  name: 'deeds',
  summary: 'what was done to accounts and channels, by whom and why',
  help: `Usage: sotto deeds [--of NAME] [--data-dir D]

Lists what operators did with "sotto accounts", "channels" and "ids", newest first, at most 1000.

  --of NAME        only what was done to this alias, channel or post
  --json           print JSON instead of text
  --data-dir D     the relay's data folder (default: DATA_DIR, otherwise ./data)

If no relay runs on this machine and DATABASE_URL is set, the command uses that database.`,
  options: { ...commonFlags, of: { type: 'string' } },
  run: async (flags) => {
    const object = textFlag(flags, 'of')
    const input = { limit: 1000, ...(object === undefined ? {} : { object }) }
    const deeds = await tell((relay) => relay.tellRelay(at(flags), 'deeds.list', input))
    return print(flags, deeds, deedsText(deeds))
  },
}
