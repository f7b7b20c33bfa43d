// What sotto accounts, channels, reports and deeds print.
import type { AccountDetail, DeedLine } from '@sotto/relay'
import { sanitizeLine } from './sanitize.ts'

/** In columns. */
const LONGEST = 600

/** An account with what the relay knows about it. */
export function accountText(account: AccountDetail): string {
  const { suspended, channels, former_aliases } = account
  const rows: [string, string][] = [
    ['alias', account.alias_id],
    ['nickname', account.nickname],
    ['uuid', account.uuid],
    ['since', account.created_at],
    ['suspended', suspended ? `since ${suspended.since}, until ${suspended.until ?? 'lifted'}` : 'no'],
    ...(suspended ? [['reason', suspended.reason] satisfies [string, string]] : []),
    ['former aliases', former_aliases.join(', ') || 'none'],
    ['signing key', account.ed25519_public_key],
    ['message key', account.x25519_public_key],
    ['friends', `${account.friends}`],
    ['requests', `${account.requests_sent} sent, ${account.requests_received} received`],
    ['blocks', `${account.blocks} by it, ${account.blocked_by} of it`],
    ['waiting', `${account.messages_waiting} messages, ${account.bytes_waiting} bytes`],
    ['media', `${account.media_blobs} files, ${account.media_bytes} bytes`],
    ['channels', channels.map(({ channel_id, name }) => `${channel_id} ${name}`).join('; ') || 'none'],
    ['subscriptions', `${account.subscriptions} to channels, ${account.push_subscriptions} for push`],
    ['orders', `${account.orders}`],
  ]
  return rowsText(rows)
}

/** Deeds, one a line. */
export function deedsText(deeds: readonly DeedLine[]): string {
  if (deeds.length === 0) return 'There are no deeds.'
  return deeds
    .map(({ at, who, what, object, why }) =>
      [
        `${at.slice(0, 19)}Z`,
        ...[who, what, object, why && `(${why})`].map((text) => sanitizeLine(text, LONGEST)),
      ]
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Names and values in two columns. */
function rowsText(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${sanitizeLine(value, LONGEST)}`).join('\n')
}
