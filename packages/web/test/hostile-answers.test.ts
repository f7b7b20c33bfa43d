// What a hostile relay answers: times, numbers and lists that no honest relay would send, answers that are
// none, and answers that do not come. The app says what happened, and goes on.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { friendOf, HostileRelay, makePeer } from '../../client/test/hostile-relay.ts'
import { until } from '../../client/test/people.ts'
import { longestTask } from './longest-task.ts'
import { expectUnharmed, FREEZE_MS, TRICKS, victimOf } from './victim.ts'
import { AppWorld } from './world.ts'

const world = new AppWorld()
let relay: HostileRelay
beforeEach(() => {
  relay = new HostileRelay()
})
afterEach(() => relay.stop())

const CHANNEL = `ch_${'c'.repeat(22)}`
const NO_TIME = '2026-99-99T99:99:99.999Z'

function channel(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { id: CHANNEL, name: 'Traps', description: '', role: 'subscriber', ...fields }
}

function post(number: number, fields: Record<string, unknown> = {}): Record<string, unknown> {
  const id = `p_${String(number).padStart(22, '0')}`
  const created_at = '2026-01-01T00:00:00.000Z'
  return { id, type: 'text', content: `post ${number}`, created_at, author_alias_id: 'mallory', ...fields }
}

function idOf(name: string): string {
  return `ord_${name.padStart(22, 'o')}`
}

function order(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    order_id: idOf('one'),
    ...{ kind: 'vanity', ref_id: 'a_fine_name', status: 'pending', price_usdt: 9, pay_to: '0xpay' },
    ...{ payment_url: `${relay.url}/pay/x`, methods: [] },
    ...{ created_at: '2026-01-01T00:00:00.000Z', expired_at: '2999-01-01T00:00:00.000Z' },
    ...fields,
  }
}

test('times that no calendar has break no screen', async () => {
  const bob = makePeer('bob')
  const hurt = await victimOf(world, relay, [bob])
  const { person, says } = hurt
  const { errors } = person.t
  says(bob, 'from the end of time', Number.MAX_SAFE_INTEGER)
  says(bob, 'as late as dates reach', 8.64e15)
  says(bob, 'in our days')
  await person.opens('bob')
  await person.sees('in our days')
  relay.answers['GET /channels/mine'] = () => ({ body: [channel()] })
  relay.answers[`GET /channels/${CHANNEL}`] = () => ({ body: channel() })
  relay.answers[`GET /channels/${CHANNEL}/posts`] = () => ({ body: [post(1, { created_at: NO_TIME })] })
  await person.goesTo(`#/channels/${CHANNEL}`)
  await person.reads(errors.codes.BAD_REPLY ?? 'no words')
  relay.answers['GET /vanity/orders'] = () => ({
    body: [order({ created_at: NO_TIME, expired_at: NO_TIME })],
  })
  await person.goesTo('#/shop/orders')
  await person.reads(errors.codes.BAD_REPLY ?? 'no words')
  await person.goesTo('#/chats')
  await person.conversationWith('bob').waitFor()
  await expectUnharmed(hurt)
})

test('answers that are too many or too long freeze nothing', async () => {
  const hurt = await victimOf(world, relay)
  const { person } = hurt
  const nameAt = (at: number): string => TRICKS[at % TRICKS.length]?.slice(0, 64) ?? ''
  const channels = Array.from({ length: 5000 }, (_, at) =>
    channel({ id: `ch_${String(at).padStart(22, 'c')}`, name: nameAt(at), description: 'd'.repeat(500) }),
  )
  const items = Array.from({ length: 20_000 }, (_, at) => ({
    ...{ alias_id: `name_${at}`, price_usdt: Number.MAX_SAFE_INTEGER, tier: 'top', is_featured: true },
  }))
  const posts = Array.from({ length: 60 }, (_, at) =>
    post(1000 - at, { content: (TRICKS[at % 9] ?? '').replace(/[^ -~]/g, '') + '[('.repeat(30_000) }),
  )
  relay.answers['GET /channels/mine'] = () => ({ body: channels })
  relay.answers['GET /vanity/search'] = () => ({ body: items })
  relay.answers[`GET /channels/${CHANNEL}`] = () => ({ body: channel() })
  relay.answers[`GET /channels/${CHANNEL}/posts`] = () => ({ body: posts })
  const longestMs = await longestTask(person.page, async () => {
    for (const place of ['#/channels', '#/shop', `#/channels/${CHANNEL}`]) {
      await person.goesTo(place)
      await person.page.locator('.long-list-item, article').first().waitFor()
      await person.settles()
      const elements = await person.page.evaluate(() => document.querySelectorAll('*').length)
      expect([place, elements < 1000]).toEqual([place, true])
    }
    relay.friends = [friendOf(makePeer('long'), { nickname: 'n'.repeat(15_000_000) })]
    await person.goesTo('#/chats')
    await person.reloads()
    await person.chats.waitFor()
    await person.settles()
  })
  expect(longestMs).toBeLessThan(FREEZE_MS)
  await expectUnharmed(hurt)
})

test('an order leads to no script, says where a foreign page is, and shows every text as text', async () => {
  const hurt = await victimOf(world, relay)
  const { person } = hurt
  const { shop, common } = person.t
  const methods = TRICKS.map((trick, at) => ({
    ...{ method: `m${at}`, symbol: `USDT\u202e${at}`, network: trick.slice(0, 60) },
  }))
  const orders = [
    order({ order_id: idOf('own'), methods }),
    order({ order_id: idOf('else'), payment_url: 'https://pay.attacker.invalid/x', pay_to: TRICKS[1] }),
    order({ order_id: idOf('script'), payment_url: TRICKS[3], pay_to: 'x'.repeat(8000) }),
  ]
  relay.answers['GET /vanity/orders'] = () => ({ body: orders })
  const pay = person.page.getByRole('link', { name: shop.pay })
  const longestMs = await longestTask(person.page, async () => {
    await person.goesTo(`#/shop/orders/${idOf('own')}`)
    await person.reads(shop.payHint)
    await person.goesTo(`#/shop/orders/${idOf('else')}`)
    await person.reads(shop.payElsewhere('pay.attacker.invalid'))
    expect(await pay.getAttribute('rel')).toBe('noopener noreferrer')
    await person.goesTo(`#/shop/orders/${idOf('script')}`)
    await person.page.getByRole('button', { name: common.copy }).waitFor()
  })
  expect(await pay.count()).toBe(0)
  expect(longestMs).toBeLessThan(FREEZE_MS)
  for (const price_usdt of [-1, 0, 1.5, 1e300]) {
    relay.answers['GET /vanity/orders'] = () => ({ body: [order({ price_usdt })] })
    await person.goesTo('#/chats')
    await person.goesTo('#/shop/orders')
    await person.reads(person.t.errors.codes.BAD_REPLY ?? 'no words')
  }
  await expectUnharmed(hurt)
})

test('pages instead of answers, and answers that never come, are said, and the rest of the app works', async () => {
  const bob = makePeer('bob')
  const hurt = await victimOf(world, relay, [bob])
  const { person, says } = hurt
  const { errors, common } = person.t
  relay.answers['GET /channels/mine'] = () => ({ body: `<!doctype html>${TRICKS[0]}` })
  await person.goesTo('#/channels')
  await person.reads(errors.codes.BAD_REPLY ?? 'no words')
  relay.answers['GET /channels/mine'] = () => ({ body: [channel()] })
  await person.presses(common.tryAgain)
  await person.reads('Traps')
  let asked = 0
  relay.answers['GET /vanity/search'] = () => {
    asked++
    return new Promise(() => {})
  }
  await person.goesTo('#/chats')
  await person.page.evaluate(() => (location.hash = '#/shop'))
  await until('the shop has asked', () => asked > 0)
  await person.reads(common.loading)
  says(bob, 'while the relay is silent')
  await person.goesTo('#/chats')
  await person.seesInList('bob', 'while the relay is silent')
  await expectUnharmed(hurt)
})
