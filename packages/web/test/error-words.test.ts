// Every code of the relay that a person can meet has words, in each language.
import { expect, test } from 'bun:test'
import { ClientError } from '@sotto/client'
import { errors } from '@sotto/protocol'
import { isStoreBroken, notices, notifyError } from '../src/session/notices.ts'
import { arabic, english } from './all-texts.ts'

/** Codes that only a defect of the app, or of something between it and the relay, can bring. */
const OF_DEFECTS = [
  'INVALID_JSON',
  'INVALID_FIELD',
  'UNKNOWN_FRAME',
  'METHOD_NOT_ALLOWED',
  'UPGRADE_REQUIRED',
]
/** Codes that the library deals with by itself, or gives another code to. */
const OF_THE_LIBRARY = [
  ...['POW_REQUIRED', 'POW_INVALID', 'SIGNATURE_INVALID', 'ACCOUNT_EXISTS', 'SEQ_UNKNOWN', 'OUT_OF_ORDER'],
  ...['UNAUTHENTICATED', 'TOKEN_DEAD', 'CHALLENGE_INVALID', 'TICKET_INVALID', 'WRONG_CONVERSATION'],
  ...['NOT_YOUR_MESSAGE', 'ID_REUSED', 'PARTS_MISMATCH', 'ALREADY_STORED', 'RANGE_NOT_SATISFIABLE'],
  ...['BODY_INCOMPLETE', 'TOO_MANY_KEY_PACKAGES', 'EPOCH_STALE', 'NOT_RETRACTABLE', 'WITHDRAWN'],
]
/** Codes after which the form for an invite says what to do. */
const OF_THE_INVITE_FORM = ['INVITE_REQUIRED', 'INVITE_INVALID', 'REGISTRATION_CLOSED']

test('every code that a person can meet has words, and no other', () => {
  const wordless = [...OF_DEFECTS, ...OF_THE_LIBRARY, ...OF_THE_INVITE_FORM]
  for (const { errors: first, laterErrors, media } of [english, arabic]) {
    const worded = Object.keys({ ...first.codes, ...laterErrors.codes, ...media.codes })
    expect(
      Object.keys(errors)
        .filter((code) => !worded.includes(code))
        .sort(),
    ).toEqual(wordless.toSorted())
  }
})

test('each language has words for the same codes', () => {
  for (const part of ['errors', 'laterErrors', 'media'] as const)
    expect(Object.keys(arabic[part].codes).sort()).toEqual(Object.keys(english[part].codes).sort())
})

test('keys of a newer version are told as such, and not as a full disk', () => {
  notifyError(new ClientError('LATER_VERSION', 'a later version has written this conversation’s keys'))
  expect(notices.value.map(({ text }) => text)).toEqual([english.errors.codes.LATER_VERSION ?? ''])
  expect(isStoreBroken.value).toBe(false)
})
