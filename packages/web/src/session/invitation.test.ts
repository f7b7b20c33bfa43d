// Invitation links: they are read as they were made, and nothing else is taken for one.
import { expect, test } from 'bun:test'
import { aliasIn, invitationLink, readInvitation } from './invitation.ts'

const anna = { alias: 'anna_5', relayUrl: 'https://relay.example' }

test('a link at the address of the relay does not name it', () => {
  expect(invitationLink(anna, 'https://relay.example/#/contacts/me')).toBe(
    'https://relay.example/#/add/anna_5',
  )
})

test('a link of an app elsewhere names the relay', () => {
  expect(invitationLink(anna, 'https://app.example/sotto/index.html')).toBe(
    'https://app.example/sotto/#/add/anna_5?relay=https://relay.example',
  )
})

test.each([
  'https://relay.example/',
  'https://app.example/sotto/#/chats',
  'http://127.0.0.1:3000/index.html?x=1#/settings',
])('a link made at %s is read as it was made', (app) => {
  for (const relayUrl of ['https://relay.example', 'http://localhost:3000', 'https://a.example/re&lay=1'])
    expect(readInvitation(invitationLink({ alias: 'anna_5', relayUrl }, app))).toEqual({
      alias: 'anna_5',
      relayUrl,
    })
})

test.each([
  '',
  'anna_5',
  'https://relay.example/',
  'https://relay.example/#/add/',
  'https://relay.example/#/add/ab',
  'https://relay.example/#/add/<b>anna</b>',
  'https://relay.example/#/add/anna%20b',
  'https://relay.example/#/add/anna/more',
  'https://relay.example/#/chats/anna_5',
  'javascript:alert(1)//#/add/anna_5',
  'data:text/html,#/add/anna_5',
  'https://relay.example/#/add/anna_5?relay=https://[',
  'https://relay.example/#/add/\u202eanna',
  `https://relay.example/${'a'.repeat(3000)}#/add/anna_5`,
])('%p is no invitation', (link) => {
  expect(readInvitation(link)).toBeUndefined()
})

test('an alias is found in what people type, and in nothing else', () => {
  expect(aliasIn(' @Anna_5 ')).toBe('anna_5')
  expect(aliasIn('an')).toBeUndefined()
  expect(aliasIn('anna\u202e5')).toBeUndefined()
  expect(aliasIn('а_cyrillic')).toBeUndefined()
})
