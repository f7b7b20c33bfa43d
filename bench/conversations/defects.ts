// Tests the model of a conversation: runs schedules and stories on copies of this checkout with one defect
// each, until one is found. bun bench/conversations/defects.ts [--schedules 400] [--name words in its name]
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { copyWith } from '../faults/mutations.ts'
import { defects } from './seeded-defects.ts'

const { values } = parseArgs({
  options: { schedules: { type: 'string', default: '400' }, name: { type: 'string', default: '' } },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
let escaped = 0
for (const { name, patches } of defects.filter((each) => each.name.includes(values.name))) {
  const { folder, remove } = copyWith(patches, 'bench', 'packages/client', 'packages/protocol')
  const main = join(folder, 'bench/conversations/main.ts')
  const stories = ['stories', 'rejoin-stories'].map((name) =>
    join(folder, `packages/client/test/version-3/${name}.test.ts`),
  )
  const bySchedule = await run([main, '--schedules', `1..${values.schedules}`])
  const by = bySchedule.exitCode === 1 ? bySchedule : await run(['test', '--timeout=240000', ...stories])
  const isFound = by.exitCode === 1
  const first = by.lines.find((line) => line.startsWith('schedule ') || line.startsWith('(fail) '))
  console.log(`${isFound ? 'found  ' : 'ESCAPED'} ${name}\n  ${first ?? by.lines.at(-1) ?? ''}`)
  if (!isFound) escaped += 1
  remove()
}
console.log(escaped === 0 ? 'every defect is found' : `${escaped} escaped`)
process.exit(escaped === 0 ? 0 : 1)

/** Runs Bun. The lines are those of the output and then of the errors. */
async function run(args: readonly string[]): Promise<{ exitCode: number; lines: readonly string[] }> {
  const child = Bun.spawn([process.execPath, ...args], { stdout: 'pipe', stderr: 'pipe' })
  const texts = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { exitCode: await child.exited, lines: texts.join('\n').trim().split('\n') }
}
