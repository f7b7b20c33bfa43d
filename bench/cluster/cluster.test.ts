// The parts of the benchmark of clusters work, with little of everything.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { treeCpuMs } from '../measure.ts'
import { measureIdle } from './idle-nodes.ts'
import { measureLatency } from './latency.ts'
import { markdownOf } from './markdown.ts'
import { measureRates } from './rates.ts'

setDefaultTimeout(240_000)

test('messages are timed on one node and across two', async () => {
  const rows = await measureLatency({ buses: ['NATS'], rounds: 2, messages: 3 })
  expect(rows.map(({ bus, clients }) => `${bus} ${clients}`)).toEqual([
    'NATS on one node',
    'NATS on two nodes',
  ])
  for (const row of rows) expect(row['p50 ms']).toBeGreaterThan(0)
})

test('servers are measured in turn, with the CPU time of each side', async () => {
  const sizes = { pairs: 2, window: 2, rounds: 1, seconds: 1 }
  const rows = await measureRates(['embedded', 'one process', 'two workers'], sizes)
  expect(rows.map(({ server }) => server)).toEqual(['embedded', 'one process', 'two workers'])
  for (const row of rows) expect(row['messages/s']).toBeGreaterThan(0)
  expect(rows[0]?.['rate, to the first']).toBe(1)
})

test('nodes are watched while nothing happens, and while they hold connections', async () => {
  const rows = await measureIdle({ buses: ['PostgreSQL'], connections: 20, seconds: 0.5 })
  expect(rows.map(({ bus, nodes, connections }) => [bus, nodes, connections])).toEqual([
    ['none', 1, 0],
    ['PostgreSQL', 1, 0],
    ['PostgreSQL', 2, 0],
    ['PostgreSQL', 2, 20],
  ])
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
