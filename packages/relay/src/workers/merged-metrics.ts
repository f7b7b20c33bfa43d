// The metrics of all workers in one text, as Prometheus reads it: each value has a label that names its
// worker.

/**
 * @param texts what each worker measured, by its number, in the text format of Prometheus
 */
export function mergedMetrics(texts: ReadonlyMap<number, string>): string {
  // All lines of a metric must stand together, under one description.
  const families = new Map<string, { readonly about: string[]; readonly samples: string[] }>()
  for (const [worker, text] of texts) {
    let family: { readonly about: string[]; readonly samples: string[] } | undefined
    for (const line of text.split('\n')) {
      const name = /^# (?:HELP|TYPE) (?<name>\S+) /.exec(line)?.groups?.name
      if (name !== undefined) {
        family = families.get(name) ?? { about: [], samples: [] }
        families.set(name, family)
        if (!family.about.includes(line)) family.about.push(line)
      } else if (line !== '') family?.samples.push(labelled(line, worker))
    }
  }
  const lines = [...families.values()].flatMap(({ about, samples }) => [...about, ...samples])
  return `${lines.join('\n')}\n`
}

function labelled(sample: string, worker: number): string {
  const [, name = '', labels, value = ''] = /^([^\s{]+)(?:\{(.*)\})?( .*)$/.exec(sample) ?? []
  return `${name}{worker="${worker}"${labels === undefined ? '' : `,${labels}`}}${value}`
}
