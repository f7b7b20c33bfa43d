// Limits of messages and mailboxes.
import { PAYLOAD_CHARACTERS } from '../ids.ts'
import { type Limit, MIB } from './limit.ts'

export const messageLimits = {
  payloadCharacters: {
    default: PAYLOAD_CHARACTERS,
    min: 256,
    max: PAYLOAD_CHARACTERS,
    setting: 'LIMIT_PAYLOAD_CHARACTERS',
    means: '`payload` of one message, as Base64',
  },
  mailboxMessages: {
    default: 10_000,
    min: 10,
    max: 100_000_000,
    setting: 'LIMIT_MAILBOX_MESSAGES',
    means: 'undelivered messages of one account',
  },
  mailboxBytes: {
    default: 64 * MIB,
    min: MIB,
    max: 1024 * 1024 * MIB,
    setting: 'LIMIT_MAILBOX_BYTES',
    means: 'undelivered payloads of one account',
  },
  mailboxRetractions: {
    default: 10_000,
    min: 10,
    max: 100_000_000,
    setting: 'LIMIT_MAILBOX_RETRACTIONS',
    means: 'retractions that wait for one account; each stores at most 128 bytes of its own',
  },
  conversationPercent: {
    default: 20,
    min: 1,
    max: 100,
    setting: 'LIMIT_CONVERSATION_PERCENT',
    means: 'percentage of these three that one conversation may use',
  },
  waitingHandshakes: {
    default: 10,
    min: 1,
    max: 1000,
    setting: 'LIMIT_WAITING_HANDSHAKES',
    means:
      'undelivered handshakes that one direction of a conversation may have although there is no room for messages',
  },
  messageLifeDays: {
    default: 30,
    min: 1,
    max: 3650,
    setting: 'LIMIT_MESSAGE_LIFE_DAYS',
    means: 'how long an undelivered message is kept',
  },
  sentIdDays: {
    default: 90,
    min: 90,
    max: 3650,
    setting: 'LIMIT_SENT_ID_DAYS',
    means: 'how long a repeated message id is recognised',
  },
  sentIdsPerDay: {
    default: 20_000,
    min: 100,
    max: 100_000_000,
    setting: 'LIMIT_SENT_IDS_PER_DAY',
    means: 'new message ids of one account in a day, by UTC; each is remembered as long',
  },
} as const satisfies Record<string, Limit>
