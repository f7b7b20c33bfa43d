// `npm run bench -- app`: how fast the web app is, in Debian's Chromium on a processor slowed four times.
import { markdownOf, rowOf } from './app/figures.ts'
import { measureApp, PARTS } from './app/measure-app.ts'
import { SLOWDOWN } from './app/measured-browser.ts'
import type { Bench } from './bench.ts'
import { takeAllCores } from './server-process.ts'

const SIZES = { few: 50, many: 1000, messages: 10_000, arrivals: 2000, rounds: 5 }

export const app: Bench = {
  means: `the web app, in Chromium on a processor slowed ${SLOWDOWN} times: ${PARTS.join(', ')}`,
  run: async ({ seconds, minutes, only }) => {
    const unknown = only.find((name) => !PARTS.some((part) => part === name))
    if (unknown !== undefined) throw new Error(`no part ${unknown}: there are ${PARTS.join(', ')}`)
    const parts = new Set(PARTS.filter((part) => only.length === 0 || only.includes(part)))
    await takeAllCores()
    const sizes = { ...SIZES, seconds, minutes }
    const rows: ReturnType<typeof rowOf>[] = []
    for await (const figure of measureApp(parts, sizes)) {
      const row = rowOf(figure)
      console.log(Object.values(row).join(', '))
      rows.push(row)
    }
    console.log(markdownOf(rows))
    return { settings: { slowdown: SLOWDOWN, ...sizes }, rows }
  },
}
