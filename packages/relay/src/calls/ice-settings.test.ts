// The settings of TURN and STUN: what each accepts, and that errors name a bad setting without its value.
import { expect, test } from 'bun:test'
import { ConfigError, readConfig } from '../config.ts'

const SECRET = 'sixteen letters!'

function messageOf(environment: Record<string, string>): string {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'it was accepted'
}

test('reads several servers, by name, IPv4 or IPv6, with spaces between them', () => {
  const { iceServers } = readConfig({
    TURN_URLS:
      ' turn:turn.example , turns:[2001:db8::1]:5349?transport=tcp,turn:192.0.2.1:3478?transport=udp, ',
    TURN_SECRET: SECRET,
    STUN_URLS: 'stun:turn.example:3478,stuns:turn.example',
    TURN_TTL_SECONDS: '60',
  })
  expect(iceServers).toEqual({
    turnUrls: [
      'turn:turn.example',
      'turns:[2001:db8::1]:5349?transport=tcp',
      'turn:192.0.2.1:3478?transport=udp',
    ],
    stunUrls: ['stun:turn.example:3478', 'stuns:turn.example'],
    turnSecret: SECRET,
    ttlSeconds: 60,
  })
})

test.each([
  'turn.example',
  'turn://turn.example',
  'stun:turn.example',
  'turn:',
  'turn:turn.example:0',
  'turn:turn.example:65536',
  'turns:[2001:db8::1]:99999',
  'turn:user:hunter22@turn.example',
  'turn:turn.example?transport=sctp',
  'turn:turn.example?transport=tcp&secret=hunter22',
  'turn:turn.example turn:b.example',
  'https://turn.example',
])('TURN_URLS=%s', (url) => {
  const message = messageOf({ TURN_URLS: `turn:good.example,${url}`, TURN_SECRET: SECRET })
  expect(message).toStartWith('TURN_URLS must be URLs such as turn:turn.example:3478')
  expect(message).not.toContain('hunter22')
})

test('STUN_URLS accepts no TURN server, and nothing after the port', () => {
  for (const url of [
    'turn:turn.example',
    'stun:turn.example?transport=udp',
    'stun://a',
    'stun:a:b',
    'stun:a:70000',
  ])
    expect(messageOf({ STUN_URLS: url })).toStartWith('STUN_URLS must be URLs such as stun:')
})

test('TURN servers need a long secret, and the error does not contain it', () => {
  for (const secret of ['', 'too short']) {
    const message = messageOf({ TURN_URLS: 'turn:turn.example', TURN_SECRET: secret })
    expect(message).toStartWith('TURN_SECRET must be at least 16 characters if TURN_URLS is set')
    expect(message).not.toContain('too short')
  }
  expect(messageOf({ TURN_SECRET: 'x' })).toBe('it was accepted') // Without TURN_URLS it has no effect.
})

test.each(['59', '604801', '1e3', '-60', 'a day', '60.5'])('TURN_TTL_SECONDS=%s', (value) => {
  expect(messageOf({ TURN_TTL_SECONDS: value })).toBe(
    'TURN_TTL_SECONDS must be a whole number from 60 to 604800',
  )
})
