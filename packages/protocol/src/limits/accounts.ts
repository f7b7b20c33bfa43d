// Limits of registration and login.
import { NAME_CHARACTERS } from '../ids.ts'
import type { Limit } from './limit.ts'

export const accountLimits = {
  nicknameCharacters: {
    default: NAME_CHARACTERS,
    min: 1,
    max: NAME_CHARACTERS,
    setting: 'LIMIT_NICKNAME_CHARACTERS',
    means: 'a nickname; clients refuse longer ones',
  },
  tokenSeconds: {
    default: 86_400,
    min: 60,
    max: 31_536_000,
    setting: 'LIMIT_TOKEN_SECONDS',
    means: 'life of a token',
  },
  ticketSeconds: {
    default: 30,
    min: 5,
    max: 300,
    setting: 'LIMIT_TICKET_SECONDS',
    means: 'life of a WebSocket ticket',
  },
  challengeSeconds: {
    default: 60,
    min: 10,
    max: 600,
    setting: 'LIMIT_CHALLENGE_SECONDS',
    means: 'life of a login challenge',
  },
  powSeconds: {
    default: 300,
    min: 30,
    max: 3600,
    setting: 'LIMIT_POW_SECONDS',
    means: 'life of a proof-of-work challenge',
  },
  powDifficulty: {
    default: 4,
    min: 1,
    max: 5,
    setting: 'LIMIT_POW_DIFFICULTY',
    means: 'leading zeros (hexadecimal) a proof of work needs',
  },
  powOpen: {
    default: 1024,
    min: 1,
    max: 100_000,
    setting: 'LIMIT_POW_OPEN',
    means:
      'open challenges of one address that a nonce without its challenge is tried with; `RATE_POW` must not allow more',
  },
} as const satisfies Record<string, Limit>
