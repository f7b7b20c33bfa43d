// The port of metrics: separate from the port that clients use, so that a proxy never publishes it.
import { type OpenPort, openPort } from './open-port.ts'

const IDLE_SECONDS = 60
const RULE = 'a port of METRICS_HOST on which this user may listen and nothing else does'

/**
 * Opens the port. `GET /metrics` answers in the text format of Prometheus.
 * @throws SettingError if it cannot be had
 */
export function startMetricsPort(
  { host, port }: { readonly host: string; readonly port: number },
  metrics: { text(): Promise<string> },
): OpenPort {
  return openPort('METRICS_PORT', RULE, {
    hostname: host,
    port,
    idleTimeout: IDLE_SECONDS,
    routes: {
      '/metrics': { GET: async () => new Response(await metrics.text(), { headers: HEADERS }) },
    },
    fetch: () => new Response('Metrics: /metrics\n', { status: 404 }),
  })
}

const HEADERS = {
  'content-type': 'text/plain; version=0.0.4; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}
