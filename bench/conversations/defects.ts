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
  const child = Bun.spawn([process.execPath, main, '--schedules', `1..${values.schedules}`], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [text, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  const isFound = (await child.exited) === 1
  const [first] = text.split('\n').filter((line) => line.startsWith('schedule '))
  console.log(
    `${isFound ? 'found  ' : 'ESCAPED'} ${name}\n  ${first ?? errors.trim().split('\n').at(-1) ?? ''}`,
  )
  if (!isFound) escaped += 1
  remove()
}
console.log(escaped === 0 ? 'every defect is found' : `${escaped} escaped`)
process.exit(escaped === 0 ? 0 : 1)
