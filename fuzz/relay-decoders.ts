// The decoders of the relay: settings, addresses, patterns, amounts, links, and the texts of call frames.
import { AliasId, check, decodeClientFrame, ProtocolError } from '@sotto/protocol'
import fc from 'fast-check'
import { checkNamesOnce, withFrom } from '../packages/relay/src/calls/frame-text.ts'
import { ConfigError, readConfig, settingNames, type settings } from '../packages/relay/src/config.ts'
import { clientAddress, widerNetworksOf } from '../packages/relay/src/listener/address.ts'
import { readJsonBody } from '../packages/relay/src/listener/body.ts'
import { loginHostOf } from '../packages/relay/src/listener/login-host.ts'
import { createLink, readLink } from '../packages/relay/src/media/links.ts'
import { isAddress } from '../packages/relay/src/payments/providers/tron-address.ts'
import { decimalOf, millionthsOf, shareOf } from '../packages/relay/src/payments/providers/webhook-decimal.ts'
import { parseJson, sortedJson } from '../packages/relay/src/payments/providers/webhook-json.ts'
import { isPublicKey } from '../packages/relay/src/push/p256.ts'
import { PatternError } from '../packages/relay/src/vanity/pattern-syntax.ts'
import { patternTableOf } from '../packages/relay/src/vanity/pattern-table.ts'
import { decoder, expectSame, expectTrue, orRefused, orRefusedLater } from './decoder.ts'
import type { Draws } from './inputs.ts'
import { frameText } from './protocol-decoders.ts'
import { anyBytes, anyText, heavyJson, mutated, mutatedBytes } from './values.ts'

const settingValues = fc.oneof(
  fc.constantFrom(
    'on',
    'off',
    '0',
    '1',
    '10',
    '60/60',
    '*',
    'allow',
    'evm',
    'tron',
    'webhook',
    'dev',
    'manual',
    'nowpayments',
    'btcpay',
  ),
  fc.constantFrom(
    'https://relay.example',
    'http://127.0.0.1:1',
    'postgres://u:p@h/d',
    'turn:t.example:1',
    'stun:s',
    '::',
    'a'.repeat(40),
  ),
  fc.integer().map(String),
  anyText,
)
const environments = fc.dictionary(
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...settingNames) }, { weight: 1, arbitrary: fc.string() }),
  settingValues,
  { maxKeys: 6 },
)
/** A value that most settings take at once, so that the next one is read too. */
const PROVIDERS = ['PAYMENTS', 'WEBHOOK_PROCESSOR', 'PUBLIC_URL'] as const satisfies (keyof typeof settings)[]

const addresses = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.constantFrom('192.0.2.1:443', '[2001:db8::1]:443', '::ffff:1.2.3.4', 'fe80::1%eth0', 'unknown', '_x'),
  anyText,
)

const patternPieces = fc.constantFrom(
  ...[
    'a',
    'b',
    '0',
    '_',
    '.',
    'é',
    '\\d',
    '\\W',
    '\\s',
    '[ab]',
    '[^a]',
    '[a-b0]',
    '[\\w]',
    '(',
    '(?:',
    '(?<n>',
    ')',
    '|',
  ],
  ...['*', '+', '?', '{2}', '{1,3}', '{0,}', '{40}', '^', '$', '\\1', '\\b', '(?=', '\\p{L}', '-', ']', '\\'],
)
const ids = fc.array(fc.constantFrom('a', 'b', '0', '_', 'z'), { maxLength: 6 }).map((each) => each.join(''))

const decimals = fc.oneof(
  fc.stringMatching(/^-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?$/),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  anyText,
)

const KEYS = [{ secret: new Uint8Array(32).fill(1) }] as const

function patternText(draws: Draws): string {
  return draws.of(fc.array(patternPieces, { maxLength: 12 })).join('')
}

export const relayDecoders = [
  decoder(
    'settings',
    (draws) => {
      const environment: Record<string, string> = draws.of(environments)
      for (const name of PROVIDERS) if (draws.chance(0.3)) environment[name] = draws.of(settingValues)
      return environment
    },
    (environment) => {
      const config = orRefused(ConfigError, () => readConfig(environment))
      expectTrue('a port is a port', config === undefined || (config.port >= 0 && config.port <= 65_535))
    },
  ),
  decoder(
    'addresses',
    (draws) => {
      const chain = Array.from({ length: draws.whole(0, 4) }, () => draws.of(addresses)).join(', ')
      return {
        chain: draws.chance(0.2) ? mutated(chain, draws) : chain,
        proxies: draws.whole(0, 3),
        host: draws.of(addresses),
      }
    },
    ({ chain, proxies, host }) => {
      const address = clientAddress('127.0.0.1', chain, proxies)
      expectTrue(`${address} is an address`, /^(?:\d+\.\d+\.\d+\.\d+|[0-9a-f:]+::\/64)$/.test(address))
      expectTrue('it has no network or two', [0, 2].includes(widerNetworksOf(address).length))
      orRefused(ProtocolError, () => loginHostOf(host, 'loopback'))
    },
  ),
  decoder(
    'patterns',
    (draws) => ({
      text: draws.chance(0.9) ? patternText(draws) : draws.of(anyText),
      given: Array.from({ length: 8 }, () => draws.of(ids)),
    }),
    ({ text, given }) => {
      const table = orRefused(PatternError, () => patternTableOf(text))
      if (!table) return
      const expected = new RegExp(`^(?:${text})$`, 'u')
      for (const id of given) {
        let steps = 0
        const counted = {
          length: id.length,
          charCodeAt: (at: number) => {
            steps += 1
            return id.charCodeAt(at)
          },
        }
        expectSame(`${id} matches as in JavaScript`, table.matches(counted), expected.test(id))
        expectTrue('a character takes one step', steps <= id.length)
      }
    },
  ),
  decoder(
    'amounts',
    (draws) => ({ one: draws.of(decimals), other: draws.of(decimals) }),
    ({ one, other }) => {
      const [paid, of] = [decimalOf(one), decimalOf(other)]
      if (!paid) return
      millionthsOf(paid)
      const value = Number(paid.digits) / 10 ** paid.scale
      const isNear = Math.abs(value - Number(one)) <= Math.abs(Number(one)) * 1e-9
      expectTrue(`${one} is ${value}`, isNear)
      if (of && of.digits > 0n) expectTrue('a share has a denominator', shareOf(paid, of).denominator > 0n)
    },
  ),
  decoder(
    'notifications',
    (draws) => (draws.chance(0.3) ? draws.of(heavyJson) : mutated(draws.of(fc.json({ maxDepth: 4 })), draws)),
    (text) => {
      const value = parseJson(text, 500)
      if (value === undefined) return
      const sorted = sortedJson(value)
      expectSame('sorted JSON is the same JSON', JSON.parse(sorted), JSON.parse(text))
      expectSame('sorted JSON is sorted', sortedJson(parseJson(sorted)), sorted)
    },
  ),
  decoder(
    'links',
    (draws) => ({
      object: draws.of(fc.string({ minLength: 1, maxLength: 60 })),
      account: draws.whole(0, 2 ** 31),
      draws,
    }),
    ({ object, account, draws }) => {
      const randomBytes = (length: number) => Uint8Array.from({ length }, () => draws.whole(0, 255))
      const link = createLink('read', { object, account }, { keys: KEYS, randomBytes, expiresAt: 10 })
      expectSame('a link leads to its object', readLink('read', link, { keys: KEYS, now: 1 }), {
        object: object.toWellFormed(),
        account,
      })
      expectSame('a link has one purpose', readLink('write', link, { keys: KEYS, now: 1 }), undefined)
      const changed = mutated(link, draws)
      if (changed !== link)
        expectSame(
          'a changed link leads nowhere',
          readLink('read', changed, { keys: KEYS, now: 1 }),
          undefined,
        )
    },
  ),
  decoder('call frames', frameText, (text) => {
    if (!decodeClientFrame(text).frame) return
    orRefused(ProtocolError, () => checkNamesOnce(text))
    const alias = check(AliasId, 'alice')
    expectSame('the added sender is read', JSON.parse(withFrom(text, alias)).from, alias)
  }),
  decoder(
    'request bodies',
    (draws) => mutatedBytes(Buffer.from(draws.of(draws.chance(0.2) ? heavyJson : fc.json())), draws),
    async (bytes) => {
      const request = new Request('http://relay/', { method: 'POST', body: Uint8Array.from(bytes) })
      await orRefusedLater(ProtocolError, () => readJsonBody(request, 65_536))
    },
    2,
  ),
  decoder(
    'keys and addresses',
    (draws) => ({ bytes: draws.of(anyBytes), text: draws.of(anyText) }),
    ({ bytes, text }) => {
      expectTrue('bytes are a key or not', typeof isPublicKey(bytes) === 'boolean')
      expectTrue('a text is an address or not', typeof isAddress(text) === 'boolean')
    },
    2,
  ),
]
