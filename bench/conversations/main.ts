// `npm run bench -- conversations`: runs schedules of the model of a conversation under crypto_v 3, by
// number, and judges what the two accounts saw.
import { parseArgs } from 'node:util'
import { accountsOfTheModel } from '../../packages/client/test/version-3/accounts.ts'
import { runSchedule } from '../../packages/client/test/version-3/model.ts'
import { scheduleOf } from '../../packages/client/test/version-3/schedules.ts'
import { smallest } from '../../packages/client/test/version-3/shrink.ts'
import { nameOf } from '../../packages/client/test/version-3/transitions/transition.ts'
import { transitions as rows } from '../../packages/client/test/version-3/transitions/transitions.ts'

/** A transition of the record that was taken less often is marked. */
const ENOUGH = 1000

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    schedules: { type: 'string', default: '1..200' },
    // Goes on after a failure.
    keep: { type: 'boolean', default: false },
    // Makes a failing schedule smaller, and prints it.
    shrink: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const range = /^(\d+)(?:\.\.(\d+))?$/.exec(values.schedules)
if (values.help || !range) {
  console.log('npm run bench -- conversations [--schedules FROM..TO] [--keep] [--shrink]')
  process.exit(values.help ? 0 : 2)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const [from, to] = [Number(range[1]), Number(range[2] ?? range[1])]
const accounts = await accountsOfTheModel()
const transitions = new Map<string, number>()
const taken = new Map<string, number>()
const told = new Map<string, number>()
const failed: number[] = []
const startedAt = performance.now()
let [schedules, steps, messages] = [0, 0, 0]
for (let number = from; number <= to; number++) {
  const schedule = scheduleOf(number)
  const verdict = await runSchedule(accounts, schedule)
  schedules += 1
  steps += schedule.actions.length
  messages += verdict.messages
  add(transitions, verdict.watch.transitions)
  add(taken, verdict.watch.taken)
  add(told, verdict.watch.told)
  if (verdict.broken.length === 0) continue
  failed.push(number)
  console.log(`schedule ${number} (${schedule.weather}): ${verdict.broken.slice(0, 5).join('; ')}`)
  if (values.shrink) {
    const small = await smallest(accounts, schedule, verdict.broken)
    console.log(
      `  the smallest: ${small.actions.map(({ act, who, how }) => `${act} ${who} ${how}`).join(', ')}`,
    )
  }
  if (!values.keep) break
}
const seconds = (performance.now() - startedAt) / 1000
console.log(`transitions of the record (< marks less than ${ENOUGH}):`)
for (const name of rows.map(nameOf)) {
  const count = taken.get(name) ?? 0
  console.log(`${String(count).padStart(8)}${count < ENOUGH ? '<' : ' '} ${name}`)
}
console.log('fine transitions:')
for (const [transition, count] of [...transitions].toSorted((a, b) => b[1] - a[1]))
  console.log(`${String(count).padStart(8)}  ${transition}`)
console.log(`told: ${[...told].map(([what, count]) => `${what} ${count}`).join(', ')}`)
console.log(
  `${schedules} schedules, ${steps} steps, ${messages} messages, ${transitions.size} kinds of transitions in ` +
    `${seconds.toFixed(1)} s; ${failed.length === 0 ? 'every promise kept' : `BROKEN by ${failed.join(', ')}`}`,
)
process.exit(failed.length === 0 ? 0 : 1)

function add(to: Map<string, number>, from: ReadonlyMap<string, number>): void {
  for (const [name, count] of from) to.set(name, (to.get(name) ?? 0) + count)
}
