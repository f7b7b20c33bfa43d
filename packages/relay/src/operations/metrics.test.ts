// What Prometheus reads: the text format of counters, gauges and histograms.
import { expect, test } from 'bun:test'
import { Metrics } from './metrics.ts'

const none = (): void => undefined

test('a counter has each value of its labels, and those that are known from the beginning', async () => {
  const metrics = new Metrics(none)
  const plain = metrics.counter('plain_total', 'Plain.')
  const frames = metrics.counter('frames_total', 'Frames.', ['type'], ['msg', 'sync'])
  const requests = metrics.counter('requests_total', 'Requests.', ['endpoint', 'status'])
  plain.count('', '', 3)
  frames.count('msg')
  frames.count('msg')
  requests.count('a"b\\c\nd', '2xx')
  expect(await metrics.text()).toBe(
    [
      '# HELP plain_total Plain.',
      '# TYPE plain_total counter',
      'plain_total 3',
      '# HELP frames_total Frames.',
      '# TYPE frames_total counter',
      'frames_total{type="msg"} 2',
      'frames_total{type="sync"} 0',
      '# HELP requests_total Requests.',
      '# TYPE requests_total counter',
      'requests_total{endpoint="a\\"b\\\\c\\nd",status="2xx"} 1',
      '',
    ].join('\n'),
  )
})

test('the buckets of a histogram contain the smaller ones, and their bounds', async () => {
  const metrics = new Metrics(none)
  const seconds = metrics.histogram('seconds', 'Seconds.', [0.5, 1])
  for (const value of [0.25, 0.5, 0.75, 2]) seconds.observe(value)
  expect((await metrics.text()).split('\n').slice(2)).toEqual([
    'seconds_bucket{le="0.5"} 2',
    'seconds_bucket{le="1"} 3',
    'seconds_bucket{le="+Inf"} 4',
    'seconds_sum 3.5',
    'seconds_count 4',
    '',
  ])
})

test('a gauge is read each time; one that cannot be read is reported, and the others are written', async () => {
  const unread: [string, unknown][] = []
  const metrics = new Metrics((name, error) => unread.push([name, error]))
  const failure = new Error('the store does not answer')
  let now = 1
  metrics.gauge('now', 'Now.', () => now)
  metrics.gauge('lost', 'Lost.', () => Promise.reject(failure))
  metrics.gauge('unknown', 'Unknown.', () => undefined)
  metrics.gauge('disks', 'Disks.', async () => ({ database: 7, media: undefined }), { label: 'disk' })
  const first = await metrics.text()
  now = 2
  const second = await metrics.text()
  const disks = '# HELP disks Disks.\n# TYPE disks gauge\ndisks{disk="database"} 7\n'
  expect(first).toBe(`# HELP now Now.\n# TYPE now gauge\nnow 1\n${disks}`)
  expect(second).toBe(`# HELP now Now.\n# TYPE now gauge\nnow 2\n${disks}`)
  expect(unread).toEqual([
    ['lost', failure],
    ['lost', failure],
  ])
})

test('two metrics cannot have one name', () => {
  const metrics = new Metrics(none)
  metrics.counter('twice_total', 'Once.')
  expect(() => metrics.gauge('twice_total', 'Twice.', () => 1)).toThrow('twice_total exists already')
})
