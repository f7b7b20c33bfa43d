// The part that attacks the operator's socket and the operator's commands of the command line.
import { join } from 'node:path'
import { operatorSocketOf } from '../packages/relay/src/listener/operator-socket.ts'
import { wireAccount } from '../packages/relay/test/wire.ts'
import { brokenHttp } from './broken-http.ts'
import { HttpLane, INTERNALS, mayLoseAnswer, type RawAnswer, sendBytes } from './http.ts'
import { type Draws, Finding, type Inputs } from './inputs.ts'
import { LiveValues, live } from './live-values.ts'
import type { Part } from './part.ts'
import { attackRelay, type Target } from './target.ts'
import { anyText, anyValue, heavyJson, mutated } from './values.ts'

const LANES = 4
/** The fields of each command, with values that it takes. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  'orders.list': {
    status: ['pending', 'confirmed', 'expired'],
    kind: ['vanity', 'quota', 'channel'],
    refunds: [true],
    limit: [1, 1000],
  },
  'orders.show': { order_id: [live('order', 1), live('order', 2), live('order', 3)] },
  'orders.confirm': {
    order_id: [live('order', 1), live('order', 4)],
    who: ['ada'],
    why: ['paid'],
    reference: ['r1', 'r2'],
  },
  'orders.refund-recorded': { payment: ['manual/r1'], reference: ['x'], who: ['ada'], why: ['done'] },
  'payouts.due': {},
  status: {},
  'payouts.paid': { order_id: [live('order', 1)], reference: ['x'], who: ['ada'], why: ['done'] },
  'accounts.log-out': { alias_id: [live('alias', 0), live('alias', 1)] },
  'keys.list': {},
  'keys.rotate': { purpose: ['token', 'challenge', 'media', 'vapid'], drop_old: [true, true, false] },
}
/** Words of the command line that only look, record or refuse while a relay runs. */
const WORDS = [
  ...[
    'orders',
    'list',
    'show',
    'confirm',
    'refund-recorded',
    'payouts',
    'payout-paid',
    'accounts',
    'log-out',
    'keys',
  ],
  ...[
    'rotate',
    'token',
    'all',
    '--drop-old',
    '--json',
    '--status',
    '--kind',
    '--limit',
    '--refunds',
    '--why',
    '--to',
  ],
  ...[
    '--reference',
    'ord_aaaaaaaaaaaaaaaaaaaaaaaa',
    'resume-expiry',
    'after-restore',
    'compact',
    'backup',
    '5',
    '-1',
  ],
  ...[
    '--help',
    'help',
    '--',
    '',
    '\u202e',
    'pending',
    'vanity',
    'manual/r1',
    '--version',
    '--no-such-flag',
    '🙂',
  ],
]

export const operator: Part = {
  name: 'operator',
  means: 'the operator’s socket, and the operator’s commands of the command line',
  share: 1,
  run: (inputs, engine) =>
    attackRelay(inputs, { engine, settings: { MANUAL_PAY_TO: 'the till' } }, (target) =>
      attack(inputs, target),
    ),
}

async function attack(inputs: Inputs, { relay, url }: Target): Promise<void> {
  const path = operatorSocketOf(relay.dataDir)
  const lives = new LiveValues(url)
  await lives.addAccounts(2)
  const buyer = await wireAccount(url)
  for (let number = 0; number < 12; number++)
    lives.learn(
      (await buyer.post('/vanity/purchase', { alias_id: `fuzz_${crypto.randomUUID().slice(0, 8)}` })).body,
    )
  const lanes = Array.from({ length: LANES }, () => new HttpLane({ path }))
  try {
    await inputs.inLanes(LANES, async (index, draws, number) => {
      if (draws.chance(0.004)) return await runCommandLine(index, draws, inputs, relay.dataDir)
      const { text, isWhole } = requestOf(draws, (each) => lives.fill(each))
      if (isWhole) {
        inputs.sending(index, text)
        const answer = await lanes[number]?.ask(Buffer.from(text))
        if (answer) check(answer, text, inputs)
        if (answer?.status === 0 && !mayLoseAnswer(text))
          throw new Finding(`no answer to input ${index}: ${text}`)
      } else {
        const bytes = brokenHttp(text, draws)
        inputs.sending(index, Buffer.from(bytes).toString())
        check(await sendBytes({ path }, bytes, draws.chance(0.5)), text, inputs)
      }
    })
  } finally {
    for (const lane of lanes) lane.close()
  }
}

function requestOf(draws: Draws, fill: (text: string) => string): { text: string; isWhole: boolean } {
  const name = draws.pick(Object.keys(COMMANDS))
  // Each rotation leaves a key, and the next list is longer.
  const command = name === 'keys.rotate' && draws.chance(0.8) ? 'keys.list' : name
  const input: Record<string, unknown> = {}
  for (const [field, values] of Object.entries(COMMANDS[command] ?? {}))
    if (draws.chance(0.8)) input[field] = draws.pick(values)
  if (draws.chance(0.4))
    input[draws.pick([...Object.keys(COMMANDS[command] ?? {}), '__proto__', 'x'])] = draws.of(anyValue)
  const dice = draws.next()
  const usual = JSON.stringify(input)
  const body = fill(
    dice < 0.6
      ? usual
      : dice < 0.85
        ? mutated(usual, draws)
        : dice < 0.95
          ? draws.of(heavyJson)
          : draws.of(anyText),
  )
  const target = draws.chance(0.93) ? command : encodeURIComponent(mutated(command, draws).toWellFormed())
  const method = draws.chance(0.95) ? 'POST' : draws.pick(['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])
  const head = `${method} /${target} HTTP/1.1\r\nhost: relay\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
  return { text: `${head}\r\n${body}`, isWhole: draws.chance(0.85) }
}

function check({ status, head, body }: RawAnswer, request: string, inputs: Inputs): void {
  inputs.answered(status === 0 ? 'closed' : status)
  const isExpected = [0, 200, 400, 404, 411, 413, 422, 431, 501, 505].includes(status)
  // A refusal (422) is for the operator, and quotes what was wrong.
  if (!isExpected || (status >= 400 && status !== 422 && INTERNALS.test(body)))
    throw new Finding(`${request.slice(0, 2000)}\nwas answered with ${head}\n\n${body.slice(0, 1000)}`)
}

// A run of the command line ends with 0, 1 or 2, and tells a failure in one line.
async function runCommandLine(index: number, draws: Draws, inputs: Inputs, dataDir: string): Promise<void> {
  const words = Array.from({ length: draws.whole(1, 6) }, () => draws.pick(WORDS))
  inputs.sending(index, `sotto ${JSON.stringify(words)}`)
  const main = join(import.meta.dir, '../packages/cli/src/main.ts')
  const child = Bun.spawn([process.execPath, main, ...words], {
    env: { PATH: process.env.PATH ?? '', DATA_DIR: dataDir },
    cwd: dataDir, // A backup may be written there.
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [errors, code] = [await new Response(child.stderr).text(), await child.exited]
  inputs.answered(`exit ${code}`)
  const isTold = code === 0 ? errors === '' : /^sotto: [^\n]+\n$/.test(errors)
  if (![0, 1, 2].includes(code) || !isTold)
    throw new Finding(`sotto ${JSON.stringify(words)} ended with ${code}: ${errors}`)
}
