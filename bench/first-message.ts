// `npm run bench -- first-message`: the time from the start of loading a page to its first acknowledged
// message, in a real Chromium. The floor is a page that only opens a WebSocket.
import { measureFirstMessage } from '../packages/client/test/browser/first-message.ts'
import type { Bench } from './bench.ts'
import { measureFloorOfFirstMessage } from './first-message-floor.ts'
import { percentile, ratio } from './measure.ts'

const LOADS = 20

export const firstMessage: Bench = {
  means: 'from loading a registered user’s page to its first acknowledged message, against the floor',
  run: async () => {
    // Half of the floor's loads run before and half after, so that a drift of the machine's speed affects
    // both pages.
    const before = await measureFloorOfFirstMessage(LOADS / 2)
    const page = await measureFirstMessage(LOADS)
    const floor = [...before, ...(await measureFloorOfFirstMessage(LOADS / 2))]
    const rows = (['connected', 'sent'] as const).map((what) => {
      const at = (loads: typeof page, percent: number): number =>
        percentile(
          loads.map((load) => load[what]),
          percent,
        )
      return {
        until: what === 'sent' ? 'acknowledged' : what,
        'p50, page to floor': ratio(at(page, 50) / at(floor, 50)),
        'p50 ms': Math.round(at(page, 50)),
        'p90 ms': Math.round(at(page, 90)),
        'floor p50 ms': Math.round(at(floor, 50)),
        'floor p90 ms': Math.round(at(floor, 90)),
      }
    })
    return { settings: { loads: LOADS }, rows }
  },
}
