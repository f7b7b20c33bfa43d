// sotto invites: makes, lists and revokes invites, through the running relay or, if none runs, in its store.
import type { InviteLine, MadeInvite } from '@sotto/relay'
import { qrOf } from './chat/qr.ts'
import { type CommandGroup, type Flags, textFlag, UsageError } from './command.ts'
import { jsonOf } from './orders-command-text.ts'
import { programCall } from './program.ts'
import { atRelay, environmentOf } from './relay-environment.ts'
import { sanitizeLine } from './sanitize.ts'

const commonFlags = { json: { type: 'boolean' }, 'data-dir': { type: 'string' } } as const
const LONGEST_NOTE = 200
/** How many invites a list shows. */
const MOST = 1000

export const invitesCommand: CommandGroup = {
  name: 'invites',
  summary: 'make, list and revoke invites to register',
  help: `Usage: sotto invites make [--uses N] [--days N|never] [--note TEXT]
       sotto invites list
       sotto invites revoke ID

Invites let people register at a relay with REGISTRATION=invite. It talks to a running relay
through a socket in its data folder, which only the relay's user can open. If no relay runs,
it opens the store.

  make             make an invite. Prints its link, as a QR code too. The relay keeps only a
                   hash of the code in it, so the link is shown this once.
    --uses N         how many people may register with it (default: 1)
    --days N         when it ends; never makes one that does not (default: 7)
    --note TEXT      what it is for, for the list; only the operator reads it
  list             the newest 1,000 invites: id, state, uses, end and note. What can be used no
                   more is forgotten after 30 days.
  revoke           make an invite useless. Who registered with it stays.

  --json           print JSON instead of text
  --data-dir D     the relay's data folder (default: DATA_DIR, otherwise ./data)

If no relay runs on this machine and DATABASE_URL is set, the command uses that database.`,
  actions: [
    {
      name: 'make',
      options: {
        ...commonFlags,
        ...{ uses: { type: 'string' }, days: { type: 'string' }, note: { type: 'string' } },
      },
      run: async (flags) => {
        const uses = wholeFlag(flags, 'uses', 1)
        const days = textFlag(flags, 'days') === 'never' ? null : wholeFlag(flags, 'days', 7)
        const note = textFlag(flags, 'note') ?? ''
        const made = await atRelay((relay) =>
          relay.tellRelay(environmentOf(flags), 'invites.make', { uses, days, note }),
        )
        if (flags.json) process.stdout.write(`${jsonOf(made)}\n`)
        else process.stdout.write(`${madeText(made)}\n`)
        return 0
      },
    },
    {
      name: 'list',
      options: commonFlags,
      run: async (flags) => {
        const invites = await atRelay((relay) =>
          relay.tellRelay(environmentOf(flags), 'invites.list', { limit: MOST }),
        )
        const text = invites.length === 0 ? 'No invites.' : invites.map(lineOf).join('\n')
        process.stdout.write(`${flags.json ? jsonOf(invites) : text}\n`)
        return 0
      },
    },
    {
      name: 'revoke',
      words: ['ID'],
      options: commonFlags,
      run: async (flags, [id]) => {
        const invite = await atRelay((relay) =>
          relay.tellRelay(environmentOf(flags), 'invites.revoke', { id }),
        )
        process.stdout.write(`${flags.json ? jsonOf(invite) : `${invite.id} lets nobody register.`}\n`)
        return 0
      },
    },
  ],
}

function wholeFlag(flags: Flags, name: string, usual: number): number {
  const text = textFlag(flags, name)
  if (text === undefined) return usual
  if (!/^[1-9][0-9]{0,5}$/.test(text)) throw new UsageError(`--${name} is a whole number, not "${text}"`)
  return Number(text)
}

function madeText({ invite, code, link, registration }: MadeInvite): string {
  const hasColour = process.stdout.isTTY === true && !process.env.NO_COLOR
  const shown =
    link === null
      ? `Code: ${code}\nPUBLIC_URL is empty, so there is no link: people type the code when they register.`
      : `${qrOf(link, hasColour)}\n${link}`
  const people = invite.uses === 1 ? 'One person' : `${invite.uses} people`
  const until = invite.expires_at === null ? '' : ` until ${invite.expires_at}`
  const note = NOTES[registration]
  return `${shown}\n${people} may register with it${until}. To make it useless: ${programCall} invites revoke ${invite.id}${note}`
}

// What the setting REGISTRATION says about the use of an invite.
const NOTES: Readonly<Record<MadeInvite['registration'], string>> = {
  open: '\nNobody needs it while REGISTRATION is open: everybody may register.',
  invite: '',
  closed: '\nIt is of no use while REGISTRATION is closed: nobody may register.',
}

const STATES: Readonly<Record<InviteLine['state'], string>> = {
  open: 'open',
  used_up: 'used up',
  expired: 'ended',
  revoked: 'revoked',
}

function lineOf({ id, state, uses, used, expires_at, made_by, note }: InviteLine): string {
  const end = expires_at ?? 'does not end'
  const words = [made_by === null ? '' : `by ${made_by}`, sanitizeLine(note, LONGEST_NOTE)].filter(Boolean)
  return `${id}  ${STATES[state].padEnd(7)}  ${`${used} of ${uses}`.padEnd(10)}  ${end.padEnd(24)}  ${words.join('  ')}`.trimEnd()
}
