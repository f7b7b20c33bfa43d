// `npm run bench -- cluster`: several nodes on one PostgreSQL. Each part prints its table as Markdown.
import type { Bench } from '../bench.ts'
import { takeAllCores } from '../server-process.ts'
import { costs } from './costs.ts'
import { fanOut } from './fan-out.ts'
import { idleNodes } from './idle-nodes.ts'
import { latency } from './latency.ts'
import { markdownOf } from './markdown.ts'
import { engines, workers } from './rates.ts'
import { sizes } from './sizes.ts'
import { storm } from './storm.ts'

const parts: Readonly<Record<string, Bench>> = {
  latency,
  workers,
  engines,
  idle: idleNodes,
  storm,
  'fan-out': fanOut,
  costs,
  sizes,
}

export const cluster: Bench = {
  means: `several nodes on one PostgreSQL: ${Object.keys(parts).join(', ')}`,
  run: async (options) => {
    const unknown = options.only.find((name) => !parts[name])
    if (unknown !== undefined)
      throw new Error(`no part ${unknown}: there are ${Object.keys(parts).join(', ')}`)
    // The nodes, PostgreSQL and the load share all cores: with a core each, two nodes would share one.
    await takeAllCores()
    const rows: Record<string, string | number>[] = []
    const settings: Record<string, string | number> = {}
    for (const [name, part] of Object.entries(parts)) {
      if (options.only.length > 0 && !options.only.includes(name)) continue
      const result = await part.run(options)
      console.log(`\n${name}: ${part.means}`, result.settings)
      console.log(`\n${markdownOf(result.rows)}\n`)
      rows.push(...result.rows.map((row) => ({ part: name, ...row })))
      for (const [setting, value] of Object.entries(result.settings)) settings[`${name} ${setting}`] = value
    }
    return { settings, rows }
  },
}
