// QR codes: what the app makes it understands, and anything else is nothing.
import { expect, test } from 'bun:test'
import { securityCodeText, understand } from './scanned.ts'

const code = '0123456789ab'.repeat(5)
const shown = code.replace(/(.{4})(?!$)/g, '$1 ')

test('a security code is read as it was shown', () => {
  expect(understand(securityCodeText(shown))).toEqual({ kind: 'securityCode', code })
})

test('an invitation and an alias are understood', () => {
  expect(understand('https://relay.example/#/add/anna_5')).toEqual({
    kind: 'invitation',
    invitation: { alias: 'anna_5', relayUrl: 'https://relay.example' },
  })
  expect(understand('@Anna_5')).toEqual({ kind: 'alias', alias: 'anna_5' })
})

test.each([
  '',
  'https://evil.example/',
  'javascript:alert(1)',
  `SOTTO:CODE:${code}0`,
  `SOTTO:CODE:${code.slice(1)}`,
  `SOTTO:CODE:${'g'.repeat(60)}`,
  '<img src=x onerror=alert(1)>',
  'WIFI:S:net;T:WPA;P:secret;;',
  '\u202eanna',
  'x'.repeat(5000),
])('%p is nothing', (text) => {
  expect(understand(text)).toEqual({ kind: 'unknown' })
})
