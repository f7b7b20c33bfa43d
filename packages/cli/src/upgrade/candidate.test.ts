// Which program is kept as the former one.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { takePlace } from './candidate.ts'
import { formerOf, idOf } from './successor.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-candidate-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** Lets a third version take the place of the second. @returns what lies there, and what is kept */
async function taken(runs: 'first' | 'second' | 'none'): Promise<string[]> {
  const file = join(folder, 'sotto')
  await Bun.write(formerOf(file), 'first')
  await Bun.write(file, 'second')
  await Bun.write(`${file}.next`, 'third')
  const running = { first: formerOf(file), second: file, none: join(folder, 'none') }[runs]
  await takePlace(file, `${file}.next`, await idOf(running))
  return [await Bun.file(file).text(), await Bun.file(formerOf(file)).text()]
}

test('the version that lay there before is kept', async () => {
  expect(await taken('second')).toEqual(['third', 'second'])
})

test('without a relay, too', async () => {
  expect(await taken('none')).toEqual(['third', 'second'])
})

test('a relay that runs from the former version, because the second one failed, keeps it', async () => {
  expect(await taken('first')).toEqual(['third', 'first'])
})
