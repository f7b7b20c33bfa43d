// sotto accounts: acts on one account, through the running relay or, if none runs, in its store.
import type { CommandGroup } from './command.ts'
import { atRelay, environmentOf } from './relay-environment.ts'

export const accountsCommand: CommandGroup = {
  name: 'accounts',
  summary: 'log an account out everywhere',
  help: `Usage: sotto accounts log-out ALIAS [--data-dir D]

Works on the accounts of the relay on this machine. It talks to a running relay through a
socket in its data folder, which only the relay's user can open. If no relay runs, it opens
the store.

  log-out          make every token of an account dead and close its connections, at once.
                   Connections to a relay on another machine are closed within a minute.
                   Devices that have the account's keys log in again by themselves: this
                   helps against a stolen token, not against a stolen device or phrase.

  --data-dir D     the relay's data folder (default: DATA_DIR, otherwise ./data)

If no relay runs on this machine and DATABASE_URL is set, the command uses that database.`,
  actions: [
    {
      name: 'log-out',
      words: ['ALIAS'],
      options: { 'data-dir': { type: 'string' } },
      run: async (flags, [alias_id]) => {
        const account = await atRelay((relay) =>
          relay.tellRelay(environmentOf(flags), 'accounts.log-out', { alias_id }),
        )
        process.stdout.write(`${account.alias_id} is logged out everywhere.\n`)
        return 0
      },
    },
  ],
}
