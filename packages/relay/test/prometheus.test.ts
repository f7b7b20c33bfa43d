// The metrics, alerts and dashboard as Debian's Prometheus reads them.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from './free-port.ts'
import { type RelayProcess, startRelay } from './relay-process.ts'
import { scrape } from './scrape.ts'
import { call } from './wire.ts'

setDefaultTimeout(240_000)
const DEPLOY = join(import.meta.dir, '../../../deploy')
let relay: RelayProcess
let metricsPort = 0

beforeAll(async () => {
  metricsPort = await findFreePort()
  relay = await startRelay({ env: { METRICS_PORT: String(metricsPort) } })
})
afterAll(() => relay?.stop())

/** @returns the exit code of promtool and what it printed */
async function promtool(words: readonly string[], input = ''): Promise<{ code: number; output: string }> {
  const child = Bun.spawn(['promtool', ...words], {
    ...{ stdin: new Blob([input]), stdout: 'pipe', stderr: 'pipe' },
  })
  const output = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
  return { code: await child.exited, output }
}

/** Waits for a server that begins to answer. */
async function untilHolds(holds: () => Promise<void>): Promise<void> {
  const late = performance.now() + 120_000
  for (;;) {
    try {
      return await holds()
    } catch (error) {
      if (performance.now() > late) throw error
      await Bun.sleep(50)
    }
  }
}

test('promtool finds nothing to complain of in the metrics', async () => {
  const { text } = await scrape(metricsPort)
  expect(await promtool(['check', 'metrics'], text)).toEqual({ code: 0, output: '' })
})

test('the alerts fire when they should, and not before', async () => {
  const { code, output } = await promtool(['test', 'rules', join(DEPLOY, 'prometheus/alerts.test.yml')])
  expect(output).toContain('SUCCESS')
  expect(code).toBe(0)
})

test('Prometheus reads a relay, and runs every alert and every query of the dashboard', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-prometheus-'))
  const port = await findFreePort()
  const targets = [`127.0.0.1:${metricsPort}`]
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(DEPLOY, 'prometheus/alerts.yml')],
    scrape_configs: [{ job_name: 'sotto', static_configs: [{ targets }] }],
  }
  await Bun.write(join(folder, 'prometheus.yml'), JSON.stringify(config)) // JSON is YAML.
  const command = ['prometheus', `--config.file=${join(folder, 'prometheus.yml')}`]
  const options = [`--storage.tsdb.path=${folder}/data`, `--web.listen-address=127.0.0.1:${port}`]
  const server = Bun.spawn(['setpriv', '--pdeathsig', 'KILL', '--', ...command, ...options], {
    ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
  })
  const ask = async (path: string) => (await call(`http://127.0.0.1:${port}/api/v1/${path}`)).body
  try {
    await untilHolds(async () => {
      expect((await ask('targets')).data.activeTargets[0]).toMatchObject({ health: 'up', lastError: '' })
    })
    await untilHolds(async () => {
      const [{ rules }] = (await ask('rules')).data.groups
      expect(rules.length).toBeGreaterThan(10)
      for (const { health } of rules) expect(health).toBe('ok')
    })
    const { panels } = await Bun.file(join(DEPLOY, 'grafana/dashboard.json')).json()
    for (const { targets } of panels) {
      for (const { expr } of targets) {
        const query = expr.replaceAll('$job', 'sotto').replaceAll('$__rate_interval', '1m')
        expect(await ask(`query?query=${encodeURIComponent(query)}`)).toMatchObject({ status: 'success' })
      }
    }
  } finally {
    server.kill()
    await server.exited
    await rm(folder, { recursive: true, force: true })
  }
})
