// sotto keys: shows and rotates the relay's keys, through the running relay or, if none runs, in its store.
import type { KeyLine } from '@sotto/relay'
import { type CommandGroup, type Flags, UsageError } from './command.ts'
import { atRelay, environmentOf } from './relay-environment.ts'

const PURPOSES = ['token', 'challenge', 'media', 'vapid'] as const satisfies readonly KeyLine['purpose'][]

const commonFlags = { json: { type: 'boolean' }, 'data-dir': { type: 'string' } } as const

export const keysCommand: CommandGroup = {
  name: 'keys',
  summary: 'show and rotate the keys that the relay signs with',
  help: `Usage: sotto keys list
       sotto keys rotate PURPOSE [--drop-old]

Works on the keys of the relay on this machine. It talks to a running relay through a socket
in its data folder, which only the relay's user can open. If no relay runs, it opens the
store. Relays on other machines notice within a minute.

  list             every key, without its secret
  rotate           make a new key. What the old key signed stays valid until it expires; then
                   the old key is deleted. Nobody notices. PURPOSE is one of:
    token            the tokens of logins
    challenge        the challenges of logins
    media            links to media
    vapid            pushes to browsers. The old key stays for as long as browsers use it.
    all              all four
    --drop-old       delete the old keys at once, because somebody may have stolen them:
                     token      everybody is logged out; clients log in again by themselves
                     challenge  logins that are running begin again
                     media      links end; clients ask for new ones
                     vapid      browsers are not woken until the app was opened there again

  --json           print JSON instead of text
  --data-dir D     the relay's data folder (default: DATA_DIR, otherwise ./data)

If no relay runs on this machine and DATABASE_URL is set, the command uses that database.`,
  actions: [
    {
      name: 'list',
      options: commonFlags,
      run: async (flags) => {
        const keys = await atRelay((relay) => relay.tellRelay(environmentOf(flags), 'keys.list', {}))
        return print(flags, keys)
      },
    },
    {
      name: 'rotate',
      words: ['PURPOSE'],
      options: { ...commonFlags, 'drop-old': { type: 'boolean' } },
      run: async (flags, [word]) => {
        const purposes = PURPOSES.filter((purpose) => word === 'all' || word === purpose)
        if (purposes.length === 0)
          throw new UsageError(`PURPOSE is one of ${PURPOSES.join(', ')} or all, not "${word}"`)
        const drop_old = flags['drop-old'] === true
        const keys = await atRelay(async (relay) => {
          const rotated: KeyLine[] = []
          for (const purpose of purposes)
            rotated.push(
              ...(await relay.tellRelay(environmentOf(flags), 'keys.rotate', { purpose, drop_old })),
            )
          return rotated
        })
        return print(flags, keys)
      },
    },
  ],
}

function print(flags: Flags, keys: readonly KeyLine[]): number {
  const lines = keys.map(({ purpose, kid, created_at, state, subscriptions }) => {
    const uses = subscriptions === null ? '' : `  ${subscriptions} subscriptions`
    return `${purpose.padEnd(9)}  ${kid}  ${created_at}  ${state.padEnd(8)}${uses}`.trimEnd()
  })
  process.stdout.write(`${flags.json ? JSON.stringify(keys, null, 2) : lines.join('\n')}\n`)
  return 0
}
