// What a relay's store shows of a message, by its `crypto_v`: a table of docs/threat-model.md. A test stores
// a message of each version and compares every column.

/** The versions that a row of the table can name. */
export type Version = 1 | 2 | 3

/** One thing that the store shows, and the columns that show it. */
export interface Seen {
  readonly what: string
  readonly columns: readonly string[]
  readonly versions: readonly Version[]
}

const ALL: readonly Version[] = [1, 2, 3]

export const seenByVersion: readonly Seen[] = [
  {
    what: 'who writes to whom, and who has not fetched it',
    columns: [
      ...[
        'messages.conversation_id',
        'messages.recipient_id',
        'sent_ids.conversation_id',
        'sent_ids.sender_id',
      ],
      ...['lanes.pending_count', 'mailboxes.pending_count', 'lanes.unread_seqs'],
    ],
    versions: ALL,
  },
  {
    what: 'when, and in which order',
    columns: [
      ...['messages.at', 'messages.seq', 'messages.position', 'sent_ids.at', 'sent_ids.seq'],
      ...['conversations.last_at', 'conversations.last_seq', 'mailboxes.last_position'],
    ],
    versions: ALL,
  },
  {
    what: 'the id that its client chose, its version, and whether it was retracted',
    columns: [
      ...['messages.message_id', 'messages.crypto_v', 'messages.kind', 'sent_ids.message_id'],
      'sent_ids.is_retracted',
    ],
    versions: ALL,
  },
  {
    what: 'the ciphertext and its length, until it is delivered',
    columns: ['messages.payload', 'lanes.pending_bytes', 'mailboxes.pending_bytes'],
    versions: ALL,
  },
  {
    what: 'in which epoch it was sent, thus how often the keys of the conversation were renewed',
    columns: ['messages.group_epoch', 'conversations.group_epoch'],
    versions: [3],
  },
  {
    what: 'which messages renewed the keys',
    columns: ['messages.is_handshake', 'sent_ids.is_handshake'],
    versions: [3],
  },
  {
    what: 'which message of each side was the last of this version, also after it was delivered',
    columns: ['lanes.version_3_seq'],
    versions: [3],
  },
  {
    what: 'what a device joins the present epoch with, sealed, and its length',
    columns: ['group_infos.conversation_id', 'group_infos.group_info'],
    versions: [3],
  },
]
