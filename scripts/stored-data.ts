// What a relay stores, and for how long: a table of docs/threat-model.md, with the defaults of the limits.
import { limits } from '@sotto/protocol'

const count = (value: number): string => value.toLocaleString('en-US')
const of = (limit: { readonly default: number }, unit: string): string => `${count(limit.default)} ${unit}`
const minutes = ({ default: seconds }: { readonly default: number }): string =>
  `${count(seconds / 60)} minutes`
const hours = ({ default: seconds }: { readonly default: number }): string => `${count(seconds / 3600)} hours`
const mebibytes = ({ default: bytes }: { readonly default: number }): string =>
  `${count(bytes / 2 ** 20)} MiB`

/** The rows of the table: what is stored, and how long. */
export const storedData: readonly (readonly [data: string, kept: string])[] = [
  ['undelivered messages', `until they are delivered, at most ${of(limits.messageLifeDays, 'days')}`],
  [
    `ids of sent messages, without content, at most ${of(limits.sentIdsPerDay, 'a day of one account')}`,
    of(limits.sentIdDays, 'days'),
  ],
  [
    'of each conversation: its epoch, the sealed group info of its last handshake, and which message of `crypto_v` 3 each side sent last',
    'as long as both accounts exist; the epoch stays',
  ],
  ['how many ids an account that sends much has used on a day', 'until the next day'],
  [
    `media, encrypted by the sender's client, at most ${mebibytes(limits.mediaAccountBytes)} of one account`,
    `${of(limits.mediaLifeDays, 'days')}; incomplete uploads ${of(limits.mediaUploadHours, 'hours')}`,
  ],
  ['call offers, in memory only; nothing else of a call', of(limits.offerSeconds, 'seconds')],
  ['of each minute: how many connections, messages, registrations, errors and bytes there were', 'one day'],
  ['orders and payments', 'forever, as financial records'],
  ['the address that a reservation came from', 'until an hour after its order has ended'],
  [
    'a keyed hash of this address, which counts reservations; anyone who has the whole database can test addresses against it',
    'one day',
  ],
  [
    'the address that asked for a proof of work',
    `until it is solved and used, at most ${minutes(limits.powSeconds)}`,
  ],
  [
    'hashes of invites, who made them, their notes, and how often they were used; not by whom',
    '30 days after they can be used no more; those of a member by which somebody came, as long as the member’s account exists',
  ],
  ['hashes of tickets, and used login challenges', of(limits.challengeSeconds, 'seconds')],
  [
    'ids of tokens that were revoked or replaced',
    `a day longer than the token, which lives for ${hours(limits.tokenSeconds)}`,
  ],
  [
    'with PostgreSQL, of each account: how many connections there were, and the ids and ends of the tokens of the last two',
    'as long as the account exists',
  ],
  ['accounts, friendships and conversations', 'as long as the accounts exist'],
  ['removed requests that were rejected', `${of(limits.rejectionDays, 'days')} from the rejection`],
  [
    `channels and their posts, at most ${mebibytes(limits.channelBytes)} of one owner`,
    'until the owner deletes them',
  ],
  [
    'push endpoints and device tokens',
    'until they are disabled or gone, or have refused everything for a week',
  ],
  [
    `key packages: public keys that devices upload, at most ${of(limits.keyPackages, 'of a device')} and ${of(limits.keyPackageDevices, 'devices of an account')}`,
    `until they are given out or expire, at most ${of(limits.keyPackageDays, 'days')}; last resorts until they are replaced; the ids of those that were given out until they would have expired`,
  ],
  ['how often an account got key packages of another one on a day', 'until the next day'],
  [
    'with `SECURITY_LOG`, in a file: logins, failed logins and rates that were reached, with keyed hashes of accounts and addresses; anyone who has the whole database can test both against them',
    'until the file was renamed twice, which it is at 32 MiB',
  ],
  [
    'that an account is suspended, and why',
    'until the suspension ends; without the reason if the account is deleted',
  ],
  [
    'reports: who reported what and why, with what the reporter attached',
    '180 days, or until the reporter’s account is deleted; what was attached until the operator has dealt with it',
  ],
  [
    'what the operator did to accounts and channels: when, who, to which one, and why',
    'forever, as the record of it',
  ],
  [
    'a deleted account',
    'its uuid and aliases, so that nobody else can get them; of each closed conversation, with whom, how many messages and the marks of delivery',
  ],
]
