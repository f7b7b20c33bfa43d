// Channels and the shop in real chats, with payments that the operator confirms, and the help.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { useChats } from './chat-world.ts'

const world = useChats({ MANUAL_PAY_TO: 'the till', MANUAL_HOLD_HOURS: '72' })
const { friends } = world
const MAIN = join(import.meta.dir, '../src/main.ts')

test('a channel is created, found, subscribed to, posted in and read', async () => {
  const { alice, bob } = await friends()
  alice.enter('/channels')
  await alice.sees(/You have no channels yet/)
  alice.enter('/newchannel River News')
  await alice.sees(/• Created River News \(ch_[\w-]+\)/)
  alice.enter('/post river news the water is high')
  await alice.sees(/• Posted in River News\./)
  bob.enter('/channels nothing like it')
  await bob.sees(/No channel has these words/)
  bob.enter('/channels river')
  await bob.sees(/^ {2}1 {2}River News$/)
  bob.enter('/read 1')
  await bob.sees(/▪1 River News, u\d+: the water is high$/)
  bob.enter('/post 1 mine')
  await bob.sees(/Only the owner of the channel can do this\./)
  bob.enter('/subscribe 1')
  await bob.sees(/• You see new posts of River News here/)
  alice.enter('/post 1 it is falling')
  await bob.sees(/▪2 River News, u\d+: it is falling$/)
  bob.enter('/unsubscribe River')
  await bob.sees(/• You see no more posts of River News/)
  bob.enter('/read 9')
  await bob.sees(/There is no channel 9 in the list/)
  await alice.leave()
  await bob.leave()
}, 240_000)

/** Runs `sotto orders` as the operator of the relay. @returns its output */
function operator(...args: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, MAIN, 'orders', ...args], {
    env: { PATH: process.env.PATH ?? '', USER: 'operator', DATA_DIR: world.relay.dataDir },
  })
  expect({ exitCode, errors: stderr.toString() }).toEqual({ exitCode: 0, errors: '' })
  return stdout.toString()
}

test('an alias is ordered, paid by way of the shown page, and bound', async () => {
  const { alice, bob } = await friends()
  alice.enter('/shop riverb')
  await alice.sees(/^ {2}riverb\w* +\d+ USDT$/)
  alice.enter('/buy riverbed')
  await alice.sees(/• riverbed is held for you until \d{4}-\d\d-\d\d \d\d:\d\d\. It costs \d+ USDT/)
  const page = await alice.sees(/^http:.*\/pay\//)
  expect(page.startsWith(`${world.relay.url}/pay/`)).toBe(true)
  alice.enter('/bind riverbed')
  await alice.sees(/The order is not paid, or its payment is not confirmed yet\./)
  alice.enter('/bind other')
  await alice.sees(/You have no order for other/)
  const [order] = JSON.parse(operator('list', '--json'))
  operator('confirm', order.order_id, '--reference', 'wire 1', '--why', 'seen')
  await alice.sees(/• Your payment for riverbed is confirmed\. \/bind riverbed makes it your alias\./)
  alice.enter('/orders')
  await alice.sees(/riverbed +\d+ USDT +paid; \/bind makes it your alias/)
  alice.enter('/bind riverbed')
  await alice.sees(/• Your alias is riverbed now/)
  bob.enter('/buy riverbed')
  await bob.sees(/Somebody has this alias already/)
  await alice.leave()
  await bob.leave()
}, 240_000)

test('the help names every command under a title and fits into 80 columns, and /code shows a QR code', async () => {
  const { alice, bob } = await friends()
  alice.enter('/help')
  await alice.sees(/^Marks: …/)
  const lines = alice.screen.lines
  const help = lines.slice(lines.findIndex((line) => line.startsWith('Messages (')))
  for (const name of ['send', 'save', 'channels', 'shop', 'blocks', 'reportpost', 'clear', 'quit'])
    expect(help.filter((line) => line.startsWith(`  /${name}`)).length).toBeGreaterThan(0)
  for (const line of help) expect(line.length).toBeLessThanOrEqual(80)
  alice.enter('/clear')
  await alice.seesNoMore(/▀|▄|█/)
  alice.enter('/code')
  await alice.sees(/▀|▄|█/)
  await alice.sees(/^ {4}[0-9a-f]{4} [0-9a-f]{4}/)
  await alice.leave()
  await bob.leave()
}, 240_000)
