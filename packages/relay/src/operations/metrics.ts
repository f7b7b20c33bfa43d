// Metrics in the text format of Prometheus (version 0.0.4): counters, histograms, and gauges that are read
// when somebody asks. No label may name a person, an address or anything that a client chooses.

/** A value with its labels, and the suffix of its name (`_bucket`, `_sum`, `_count`). */
interface Sample {
  readonly suffix?: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  samples(): Iterable<Sample> | Promise<Iterable<Sample>>
}

/** What a gauge shows now: one value, or one for each value of its label. Undefined if it is unknown. */
export type GaugeValue = number | undefined | Readonly<Record<string, number | undefined>>

/** Counts what happens, for each value of its labels. */
export class Counter {
  readonly #labels: readonly [first?: string, second?: string]
  readonly #counts = new Map<string, Map<string, number>>()

  constructor(labels: readonly [first?: string, second?: string]) {
    this.#labels = labels
    if (labels.length === 0) this.count('', '', 0)
  }

  /** @param first, second the values of its labels, which must be few; empty for a label that it lacks */
  count(first = '', second = '', times = 1): void {
    let counts = this.#counts.get(first)
    if (!counts) {
      counts = new Map()
      this.#counts.set(first, counts)
    }
    counts.set(second, (counts.get(second) ?? 0) + times)
  }

  /** How often it was counted with these values of its labels. */
  countOf(first = '', second = ''): number {
    return this.#counts.get(first)?.get(second) ?? 0
  }

  /** How often it was counted with any. */
  total(): number {
    let total = 0
    for (const counts of this.#counts.values()) for (const count of counts.values()) total += count
    return total
  }

  *samples(): Generator<Sample> {
    const [firstLabel, secondLabel] = this.#labels
    for (const [first, counts] of this.#counts) {
      for (const [second, value] of counts) {
        const labels: Record<string, string> = {}
        if (firstLabel !== undefined) labels[firstLabel] = first
        if (secondLabel !== undefined) labels[secondLabel] = second
        yield { labels, value }
      }
    }
  }
}

/** Counts values, such as durations, in buckets. */
export class Histogram {
  readonly #bounds: readonly number[]
  readonly #counts: number[]
  #sum = 0

  /** @param bounds the upper bounds of the buckets, ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    let index = 0
    while (index < this.#bounds.length && value > (this.#bounds[index] ?? 0)) index += 1
    this.#counts[index] = (this.#counts[index] ?? 0) + 1
    this.#sum += value
  }

  /** How many values are in each bucket, the last one without a bound. */
  counts(): readonly number[] {
    return [...this.#counts]
  }

  /**
   * The value below which this part of the counted values is, as far as the buckets tell: within a bucket
   * they are taken to be spread evenly, and beyond the last bound to be at it.
   * @param part from 0 to 1
   * @param counts of the buckets, such as the difference of two results of {@link counts}
   * @returns undefined if there are no values
   */
  quantile(part: number, counts: readonly number[]): number | undefined {
    const total = counts.reduce((sum, count) => sum + count, 0)
    if (total === 0) return undefined
    let rest = part * total
    for (const [index, bound] of this.#bounds.entries()) {
      const count = counts[index] ?? 0
      const below = this.#bounds[index - 1] ?? 0
      if (count > 0 && rest <= count) return below + (bound - below) * (rest / count)
      rest -= count
    }
    return this.#bounds.at(-1)
  }

  *samples(): Generator<Sample> {
    let count = 0
    for (const [index, inBucket] of this.#counts.entries()) {
      count += inBucket
      yield { suffix: '_bucket', labels: { le: String(this.#bounds[index] ?? '+Inf') }, value: count }
    }
    yield { suffix: '_sum', labels: {}, value: this.#sum }
    yield { suffix: '_count', labels: {}, value: count }
  }
}

/** All metrics of a process. */
export class Metrics {
  readonly #families = new Map<string, Family>()
  readonly #onUnread: (name: string, error: unknown) => void

  /** @param onUnread called with the name of a gauge that could not be read; the others are still written */
  constructor(onUnread: (name: string, error: unknown) => void) {
    this.#onUnread = onUnread
  }

  /**
   * @param known the values that the first label can have: they are written from the beginning, because the
   *   first change of a value that appears late is not seen
   */
  counter(
    name: string,
    help: string,
    labels: readonly [first?: string, second?: string] = [],
    known: readonly string[] = [],
  ): Counter {
    const counter = new Counter(labels)
    for (const value of known) counter.count(value, '', 0)
    this.#add({ name, type: 'counter', help, samples: () => counter.samples() })
    return counter
  }

  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    const histogram = new Histogram(bounds)
    this.#add({ name, type: 'histogram', help, samples: () => histogram.samples() })
    return histogram
  }

  /** @param label the label whose values `read` tells, if it tells several */
  gauge(
    name: string,
    help: string,
    read: () => GaugeValue | Promise<GaugeValue>,
    { label = '', type = 'gauge' }: { label?: string; type?: 'gauge' | 'counter' } = {},
  ): void {
    const samples = async (): Promise<Sample[]> => {
      const now = await read()
      const values = typeof now === 'object' ? Object.entries(now) : [['', now] as const]
      return values.flatMap(([of, value]) =>
        value === undefined ? [] : [{ labels: label === '' ? {} : { [label]: of }, value }],
      )
    }
    this.#add({ name, type, help, samples })
  }

  /** All metrics, as Prometheus reads them. */
  async text(): Promise<string> {
    const written = await Promise.all([...this.#families.values()].map((family) => this.#textOf(family)))
    return written.join('')
  }

  async #textOf(family: Family): Promise<string> {
    const { name, type, help } = family
    try {
      const lines = Array.from(await family.samples(), ({ suffix = '', labels, value }) => {
        const pairs = Object.entries(labels).map(([label, of]) => `${label}="${escaped(of)}"`)
        return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`
      })
      return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
    } catch (error) {
      this.#onUnread(name, error)
      return ''
    }
  }

  #add(family: Family): void {
    if (this.#families.has(family.name)) throw new Error(`${family.name} exists already`)
    this.#families.set(family.name, family)
  }
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
