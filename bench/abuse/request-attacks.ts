// Attacks through expensive requests, at the rates that the relay allows: searches, friend lists, deletions,
// ids, notifications that nobody signed, proofs of work and logins that are wrong. And more requests than the
// rates allow.
import { randomBytes } from 'node:crypto'
import { solve, WireAccount } from '@sotto/relay/testing/wire'
import type { Attack } from './attack.ts'
import type { Attacker } from './attacker.ts'
import { addBlocksAndSubscriptions, addChannels, addFriends, addPaidOrders } from './fill.ts'

const FRIENDS = 5000
const SUBSCRIPTIONS = 1000
const CHANNELS = 100_001
const WORDS = ['common', 'usual', 'ordinary', 'frequent']

const search: Attack = {
  name: 'channel-search',
  fill: (scene) => addChannels(scene, CHANNELS, WORDS),
  run: repeated('search', 'GET', `/channels/search?q=${WORDS.join('+')}`),
}

/** The longest list that one account can have. */
const friendList: Attack = {
  name: 'friend-list',
  fill: (scene) => addFriends(scene, { friends: FRIENDS, sent: FRIENDS, received: 1000, rejected: 1000 }),
  run: repeated('read', 'GET', '/friends'),
}

/** The other long lists that one account can have. */
const LISTS = ['/blocks', '/conversations/active', '/channels/mine']
const otherLists: Attack = {
  name: 'other-lists',
  fill: (scene) => {
    addFriends(scene, { friends: FRIENDS })
    addBlocksAndSubscriptions(scene, FRIENDS, SUBSCRIPTIONS)
  },
  run: async (attacker) => {
    const as = attacker.stranger()
    await attacker.paced(attacker.allowed('read'), (index) =>
      attacker.request('GET', LISTS[index % LISTS.length] ?? '', { as }),
    )
  },
}

/** Deletes accounts with 5,000 friends one after the other. */
const deletions: Attack = {
  name: 'delete-me',
  strangers: 20,
  fill: (scene) => addFriends(scene, { friends: FRIENDS }),
  run: async (attacker) => {
    for (const as of attacker.scene.strangers) {
      if (attacker.isOver) return
      await attacker.request('DELETE', '/me', { as })
    }
  },
}

/** As many orders as one account can make in an hour. */
const ORDERS = Array.from({ length: 30 }, (_, index) => `ord_${String(index).padStart(24, '0')}`)
const binds: Attack = {
  name: 'bind',
  fill: (scene) => {
    addFriends(scene, { friends: FRIENDS })
    addPaidOrders(scene, ORDERS)
  },
  run: async (attacker) => {
    const as = attacker.stranger()
    await attacker.paced(ORDERS.length, (index) =>
      attacker.request('POST', '/vanity/bind', { as, body: { order_id: ORDERS[index] } }),
    )
  },
}

/** A body with as much structure and as many bytes as the relay looks at. */
const NOTIFICATION = `{${Array.from({ length: 120 }, (_, index) => `"k${index}":["${'v'.repeat(110)}"]`).join(',')}}`
const nowPayments: Attack = {
  name: 'webhook-nowpayments',
  settings: processorSettings('nowpayments'),
  run: notifications({ 'x-nowpayments-sig': 'ab'.repeat(64) }, NOTIFICATION),
}

const btcPay: Attack = {
  name: 'webhook-btcpay',
  settings: processorSettings('btcpay'),
  run: notifications({ 'btcpay-sig': `sha256=${'ab'.repeat(32)}` }, 'x'.repeat(65_536)),
}

/** The proofs that `arm` has solved, for the process of the attack. */
const solved: { challenge: string; nonce: string }[] = []
const PROOFS = 15
/** A key that no honest client has. */
const NO_KEY = Buffer.alloc(32).toString('base64')

/** Half of the registrations have a wrong proof of work, half a right one and keys that nobody has. */
const registrations: Attack = {
  name: 'registrations',
  arm: async (attacker) => {
    for (let count = 0; count < PROOFS; count++) {
      const { body } = await attacker.request('POST', '/pow/challenge')
      const { challenge_string: challenge = '', difficulty = 1 } = JSON.parse(body)
      solved.push({ challenge, nonce: solve(challenge, difficulty) })
    }
  },
  run: async (attacker) => {
    const challenges = attacker.allowed('pow') - PROOFS
    const each = Math.floor(challenges / (2 * PROOFS))
    const { ed25519, x25519 } = new WireAccount(attacker.scene.url)
    await attacker.paced(PROOFS, async (index) => {
      for (let more = 0; more < 2 * each; more++) await attacker.request('POST', '/pow/challenge')
      const keys = { ed25519_public_key: ed25519, x25519_public_key: x25519, nickname: 'nobody' }
      await attacker.request('POST', '/register', { body: { ...keys, pow_nonce: `wrong-${index}` } })
      const bad = { ...keys, ed25519_public_key: NO_KEY }
      const { challenge, nonce } = solved[index] ?? { challenge: '', nonce: '' }
      const proof = { pow_challenge: challenge, pow_nonce: nonce }
      await attacker.request('POST', '/register', { body: { ...bad, ...proof } })
    })
  },
}

/** Challenges for an account, each answered with a wrong signature. */
const logins: Attack = {
  name: 'logins',
  run: async (attacker) => {
    const { uuid } = attacker.stranger()
    const signature = randomBytes(64).toString('base64')
    await attacker.paced(attacker.allowed('login') / 2, async () => {
      const answer = await attacker.request('POST', '/auth/challenge', { body: { user_uuid: uuid } })
      const challenge = answer.body === '' ? '' : (JSON.parse(answer.body).challenge ?? '')
      await attacker.request('POST', '/auth/verify', { body: { user_uuid: uuid, challenge, signature } })
    })
  },
}

const prices: Attack = {
  name: 'price-search',
  run: repeated('shop', 'GET', `/vanity/search?q=${'1234567890'.repeat(3).slice(0, 24)}`),
}

const reservations: Attack = {
  name: 'reservations',
  settings: { MANUAL_PAY_TO: 'the operator' },
  run: (attacker) =>
    attacker.paced(attacker.allowed('shop'), (index) =>
      attacker.request('POST', '/vanity/reserve', { body: { alias_id: `lake_${index}` } }),
    ),
}

const FLOOD_A_SECOND = 2000
/** Requests that one account and one address may make far less often. */
const FLOODED: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['GET', '/me'],
  ['GET', '/channels/search?q=word'],
  ['POST', '/ws/ticket'],
  ['GET', '/vanity/search?q=lake'],
  ['POST', '/auth/challenge', { user_uuid: '00000000-0000-4000-8000-000000000000' }],
  ['POST', '/pow/challenge'],
]

/** Asks far more often than any rate allows. */
const requestFlood: Attack = {
  name: 'request-flood',
  run: async (attacker) => {
    const as = attacker.stranger()
    await attacker.paced(FLOOD_A_SECOND * attacker.scene.seconds, (index) => {
      const [method, path, body] = FLOODED[index % FLOODED.length] ?? ['GET', '/me']
      return attacker.request(method, path, { as, ...(body ? { body } : {}) })
    })
  },
}

export const requestAttacks = [
  search,
  friendList,
  otherLists,
  deletions,
  binds,
  nowPayments,
  btcPay,
  registrations,
  logins,
  prices,
  reservations,
  requestFlood,
]

/** Repeats one request of an account as often as its rate allows. */
function repeated(rate: 'search' | 'read' | 'shop', method: string, path: string): Attack['run'] {
  return async (attacker: Attacker) => {
    const as = attacker.stranger()
    await attacker.paced(attacker.allowed(rate), () => attacker.request(method, path, { as }))
  }
}

function notifications(headers: Readonly<Record<string, string>>, body: string): Attack['run'] {
  return (attacker) =>
    attacker.paced(attacker.allowed('callback'), () =>
      attacker.request('POST', '//payments/webhook', { headers, body }),
    )
}

/**
 * Settings of a relay that takes notifications of a processor. Nothing answers at the processor's address.
 */
function processorSettings(processor: string): Record<string, string> {
  const secrets = { WEBHOOK_API_KEY: 'the-key', WEBHOOK_SECRET: 'the-secret', WEBHOOK_STORE: 'the-store' }
  const settings = {
    PAYMENTS: 'webhook',
    WEBHOOK_PROCESSOR: processor,
    WEBHOOK_API_URL: 'http://127.0.0.1:9',
  }
  return { ...settings, ...secrets, PUBLIC_URL: 'http://relay.example' }
}
