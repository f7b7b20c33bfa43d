// The links of invites, and what else people type or scan.
import { expect, test } from 'bun:test'
import { inviteLink, readInvite } from './invite.ts'

const code = '0123456789abcdef0123456789abcdef'

test.each([
  ['a code', ` ${code}\n`, undefined],
  [
    'a link of a relay that serves the app',
    `https://relay.example/#/invite/${code}`,
    'https://relay.example',
  ],
  ['one under a path', `https://host.example/sotto/#/invite/${code}`, 'https://host.example/sotto'],
  [
    'a link of an app that is somewhere else',
    `https://app.example/#/invite/${code}?relay=https://relay.example:8443/`,
    'https://relay.example:8443',
  ],
])('%s is an invite', (_name, text, relayUrl) => {
  expect(readInvite(text)).toEqual({ code, relayUrl })
})

test.each([
  ['https://relay.example', 'https://relay.example/#/chats', `https://relay.example/#/invite/${code}`],
  [
    'https://host.example/sotto',
    'https://host.example/sotto/',
    `https://host.example/sotto/#/invite/${code}`,
  ],
  [
    'https://relay.example:8443',
    'https://app.example/x/index.html',
    `https://app.example/x/#/invite/${code}?relay=https://relay.example:8443`,
  ],
])('the link for a relay at %s in an app at %s is read again', (relayUrl, app, link) => {
  expect(inviteLink(code, { relayUrl, app })).toBe(link)
  expect(readInvite(link)).toEqual({ code, relayUrl })
})

test.each([
  '',
  'two words',
  'https://relay.example/',
  'https://relay.example/#/add/alice',
  'https://relay.example/#/invite/',
  `https://relay.example/#/invite/${code}/more`,
  `https://relay.example/#/invite/${code}?relay=javascript:alert(1)`,
  `https://relay.example/#/invite/${code}?relay=https://`,
  'https://relay.example/#/invite/%00',
  `javascript:alert(1)#/invite/${code}`,
  `https://relay.example/#/invite/${code}?relay=https://${'x'.repeat(2000)}`,
])('%p is none', (text) => {
  expect(readInvite(text)).toBeUndefined()
})
