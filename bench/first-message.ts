// `npm run bench -- first-message`: how long a page takes, in a real Chromium, from its loading to its first message.
import { measureFirstMessage } from '../packages/client/test/browser/first-message.ts'
import type { Bench } from './bench.ts'
import { percentile } from './measure.ts'

const LOADS = 20

export const firstMessage: Bench = {
  means: 'time of a page of somebody registered from its loading to its first acknowledged message',
  run: async () => {
    const measured = await measureFirstMessage(LOADS)
    const rows = (['connected', 'sent'] as const).map((what) => {
      const ms = measured.map((load) => load[what])
      const at = (percent: number): number => Math.round(percentile(ms, percent))
      return { until: what === 'sent' ? 'acknowledged' : what, 'p50 ms': at(50), 'p90 ms': at(90) }
    })
    return { settings: { loads: LOADS }, rows }
  },
}
