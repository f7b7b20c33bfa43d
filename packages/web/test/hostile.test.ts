// A hostile relay and a hostile friend, as the app shows them: no script runs, nothing is asked of anybody
// else, and the page never freezes.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { friendOf, HostileRelay, makePeer, type Peer } from '../../client/test/hostile-relay.ts'
import { until } from '../../client/test/people.ts'
import type { AppPerson } from './app-person.ts'
import { longestTask } from './longest-task.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()

/** The longest time, in milliseconds, for which the page may not answer. */
const FREEZE_MS = 200

let relay: HostileRelay
beforeEach(() => {
  relay = new HostileRelay()
})
afterEach(() => relay.stop())

const SCRIPT = 'globalThis.ran=true;document.title="ran"'
const TRICKS = [
  `<script>${SCRIPT}</script>`,
  `<img src=x onerror='${SCRIPT}'>`,
  `<svg onload='${SCRIPT}'><iframe srcdoc="<script>parent.ran=true</script>">`,
  `javascript:${SCRIPT}`,
  `[a link](javascript:${SCRIPT}) ![](http://attacker.invalid/pixel.png)`,
  `data:text/html,<script>${SCRIPT}</script>`,
  'https://attacker.invalid/\u202egnp.exe',
  '\u202e\u2066\u2067all of it backwards\u202d',
  '{{constructor.constructor("globalThis.ran=true")()}}',
  '\u0000\u0007\u001b[31m\u2028\u2029\ufeff',
  'e\u0301'.repeat(500) + '\u0323\u0302'.repeat(2000),
  '👩‍👩‍👧‍👦'.repeat(1000),
  'x'.repeat(60_000),
  '\n'.repeat(20_000),
  '(('.repeat(8000),
  'https://'.repeat(6000),
  '#'.repeat(30_000),
]

/** A new account at the hostile relay, with these friends. */
async function victim(friends: readonly Peer[], fields: Record<string, unknown> = {}): Promise<Victim> {
  let publicKey = ''
  relay.answers['POST /register'] = (body) => {
    publicKey = String(body.x25519_public_key)
    return { body: { uuid: relay.uuid, alias_id: relay.aliasId } }
  }
  relay.friends = friends.map((peer) => friendOf(peer, fields))
  const person = await world.stranger('Victim', {}, relay.url)
  const foreign: string[] = []
  person.context.on('request', (request) => {
    if (!/^(?:http:\/\/127\.0\.0\.1:\d+\/|blob:|data:)/.test(request.url())) foreign.push(request.url())
  })
  person.page.on('dialog', (dialog) => foreign.push(`dialog: ${dialog.message()}`))
  await person.registers()
  let seq = 0
  const says = (peer: Peer, text: string): void => {
    seq++
    const payload = peer.payloadTo(publicKey, text)
    const fields = { from: peer.aliasId, to: relay.aliasId, conv_id: peer.conversationId, payload }
    relay.send({
      type: 'msg',
      id: crypto.randomUUID(),
      crypto_v: 1,
      seq,
      at: 1_700_000_000_000 + seq,
      ...fields,
    })
  }
  return { person, says, foreign }
}

interface Victim {
  readonly person: AppPerson
  /** Sends a message from a friend. */
  readonly says: (peer: Peer, text: string) => void
  /** Requests to others, and dialogs. */
  readonly foreign: readonly string[]
}

async function expectUnharmed({ person, foreign }: Victim): Promise<void> {
  expect(await person.page.evaluate(() => 'ran' in globalThis)).toBe(false)
  expect(await person.page.title()).not.toContain('ran')
  expect(foreign).toEqual([])
}

test('what a hostile friend writes is text, and freezes nothing', async () => {
  const mallory = makePeer('mallory')
  const hurt = await victim([mallory])
  const { person, says } = hurt
  const longestMs = await longestTask(person.page, async () => {
    says(mallory, 'first')
    await person.opens('mallory')
    for (const trick of TRICKS) says(mallory, trick)
    for (let count = 0; count < 300; count++) says(mallory, `${count} ${TRICKS[count % 6]}`)
    says(mallory, 'the last one')
    await person.seesInList('mallory', 'the last one')
    const last = person.page.getByRole('article').filter({ hasText: 'the last one' })
    const toEnd = person.page.getByRole('button', { name: person.t.conversation.toEnd })
    await last.or(toEnd).first().waitFor()
    if (await toEnd.isVisible()) await toEnd.click()
    await last.waitFor()
    await person.page.keyboard.press('Home')
    await person.settles()
  })
  await expectUnharmed(hurt)
  expect(longestMs).toBeLessThan(FREEZE_MS)
})

test('names that a hostile relay gives are text, wherever they are shown', async () => {
  const peers = TRICKS.map((_, at) => makePeer(`mallory${at}`))
  const hurt = await victim(peers)
  const { person, says } = hurt
  const nicknames = TRICKS.map((trick) => trick.slice(0, 64))
  relay.friends = peers.map((peer, at) =>
    friendOf(peer, {
      nickname: nicknames[at],
      ...(at % 3 === 0 ? { status: 'pending', direction: 'received' } : {}),
    }),
  )
  const longestMs = await longestTask(person.page, async () => {
    await person.reloads()
    await person.chats.waitFor()
    await person.page.getByRole('list').getByRole('link').first().waitFor()
    for (const [at, peer] of peers.entries()) if (at % 3 !== 0) says(peer, TRICKS[at] ?? '')
    await person.goesTo('#/contacts')
    for (const { conversationId } of peers.slice(0, 4)) {
      await person.goesTo(`#/contacts/${conversationId}`)
      await person.goesTo(`#/chats/${conversationId}`)
    }
  })
  await expectUnharmed(hurt)
  expect(longestMs).toBeLessThan(FREEZE_MS)
})

test('frames of any shape stop nothing', async () => {
  const bob = makePeer('bob')
  const hurt = await victim([bob])
  const { person, says } = hurt
  const conv_id = bob.conversationId
  const rubbish: (string | Record<string, unknown>)[] = [
    ...['', '{', 'null', '[]', '"msg"', '{"type":5}', '{"type":"__proto__"}', '[['.repeat(5000)],
    ...[{ type: 'msg' }, { type: 'unheard_of' }, { type: 'goaway', reason: SCRIPT }],
    { type: 'error', error: '<img src=x onerror=alert(1)>', message: SCRIPT, id: 'x' },
    { type: 'read', conv_id, seq: 2 ** 53, to: relay.aliasId, from: 'bob' },
    { type: 'typing', conv_id, from: '<b>', to: relay.aliasId },
    { type: 'friend_request', friendship_id: 2 ** 60, from: '<b>', nickname: TRICKS[1] },
    { type: 'friend_accepted', friendship_id: -1, from: 'mallory', conv_id: '../..' },
    { type: 'call_offer', call_id: SCRIPT, conv_id, from: 'bob', payload: 'x' },
  ]
  const longestMs = await longestTask(person.page, async () => {
    for (let times = 0; times < 20; times++) for (const frame of rubbish) relay.send(frame)
    says(bob, 'still here')
    await person.seesInList('bob', 'still here')
  })
  await person.opens('bob')
  await person.sees('still here')
  await expectUnharmed(hurt)
  expect(longestMs).toBeLessThan(FREEZE_MS)
})

test('the keys of a friend change: nothing is sent to them, and nothing from them is shown', async () => {
  const bob = makePeer('bob')
  const { person, says } = await victim([bob])
  says(bob, 'with the old keys')
  await person.opens('bob')
  await person.sees('with the old keys')
  const other = makePeer('bob', bob.conversationId)
  relay.friends = [friendOf(other)]
  const syncs = relay.framesOf('sync').length
  relay.close(1012)
  await until('the app has connected again', () => relay.framesOf('sync').length > syncs)
  says(other, 'with other keys')
  await person.types('for the old friend only')
  await person.field.press('Enter')
  await person.reads(person.t.errors.codes.KEY_CHANGED ?? '')
  expect(relay.framesOf('msg')).toEqual([])
  expect(await person.page.getByText('with other keys').count()).toBe(0)
})
