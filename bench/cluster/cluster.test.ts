// The parts of the benchmark of clusters work, with little of everything.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { treeCpuMs } from '../measure.ts'
import { measureLatency } from './latency.ts'
import { markdownOf } from './markdown.ts'

setDefaultTimeout(240_000)

test('messages are timed on one node and across two, with each bus', async () => {
  const rows = await measureLatency({ rounds: 2, messages: 3 })
  expect(rows.map(({ bus, clients }) => `${bus} ${clients}`)).toEqual([
    'PostgreSQL on one node',
    'PostgreSQL on two nodes',
    'NATS on one node',
    'NATS on two nodes',
  ])
  for (const row of rows) expect(row['p50 ms']).toBeGreaterThan(0)
})

test('rows become a table', () => {
  expect(
    markdownOf([
      { server: 'one', 'a second': 12_345.678 },
      { server: 'two', 'a second': '' },
    ]),
  ).toBe('| server | a second |\n| --- | --- |\n| one | 12,345.678 |\n| two |  |')
})

test('the CPU time of a process includes that of what it started', async () => {
  const shell = Bun.spawn(['sh', '-c', 'sh -c "while :; do :; done" & echo $!; wait'], { stdout: 'pipe' })
  const { value = new Uint8Array() } = await shell.stdout.getReader().read()
  while (treeCpuMs(shell.pid) < 100) await Bun.sleep(20)
  process.kill(Number(new TextDecoder().decode(value)), 'SIGKILL')
  await shell.exited
})
