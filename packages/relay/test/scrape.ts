// Reads the metrics of a relay as Prometheus does.
import { call } from './wire.ts'

/** The metrics of a relay at one moment. */
export interface Scrape {
  readonly text: string
  /** The names of the metrics, without the suffixes of histograms. */
  readonly names: readonly string[]
  /** The value of a sample, such as `sotto_connections` or `sotto_errors_total{code="INTERNAL"}`. */
  value(sample: string): number
}

export async function scrape(port: number): Promise<Scrape> {
  const { status, headers, text } = await call(`http://127.0.0.1:${port}/metrics`)
  if (status !== 200) throw new Error(`the metrics answered ${status}`)
  const type = headers.get('content-type')
  if (type !== 'text/plain; version=0.0.4; charset=utf-8') throw new Error(`the metrics are ${type}`)
  const values = new Map<string, number>()
  for (const line of text.split('\n')) {
    const at = line.lastIndexOf(' ')
    if (line !== '' && !line.startsWith('#')) values.set(line.slice(0, at), Number(line.slice(at + 1)))
  }
  return {
    text,
    names: Array.from(text.matchAll(/^# TYPE (\S+) /gm), ([, name = '']) => name),
    value: (sample) => values.get(sample) ?? Number.NaN,
  }
}
