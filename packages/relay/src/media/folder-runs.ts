// The runs of a folder of blobs: files to which an upload's parts are appended in order. One part at a time
// is written to a run, so its place is always the end of the file. If it is cut off, the file is cut there,
// and the next attempt gets the same place.

/** A place at the end of a run, for one part. Nobody else gets it until it is kept or given back. */
export interface RunPlace {
  readonly name: string
  readonly at: number
  /** Names the place. */
  readonly etag: string
  /** The part was written. */
  keep(bytes: number): void
  /** The run ends before this place again. */
  giveBack(): void
}

interface Run {
  readonly name: string
  /** The number of the part that may be appended next. */
  next: number
  end: number
  /** Where the parts in the run begin. */
  readonly starts: number[]
  isBusy: boolean
}

/** Where a part is in a run; undefined if the etag names no such place. */
export function runPlaceOf(etag: string): { name: string; at: number } | undefined {
  const { name, at } = /^(?<name>run_[\w-]+)-(?<at>\d+)$/.exec(etag)?.groups ?? {}
  return name === undefined ? undefined : { name, at: Number(at) }
}

/**
 * The runs that this process began. It never continues another process's run, so that no two processes write
 * to one.
 */
export class Runs {
  readonly #runs = new Map<string, Run>()

  /**
   * The place at the end of the run for this part. Undefined if the part needs a file of its own: it arrives
   * out of order or again, or another part is being written to the run.
   */
  placeFor(object: string, number: number, version: string): RunPlace | undefined {
    const run = this.#runs.get(object) ?? {
      ...{ name: `run_${version}`, next: 1, end: 0, starts: [], isBusy: false },
    }
    if (run.isBusy || number !== run.next) return undefined
    this.#runs.set(object, run)
    run.isBusy = true
    const at = run.end
    return {
      ...{ name: run.name, at, etag: `${run.name}-${at}` },
      keep: (bytes) => {
        run.starts.push(at)
        Object.assign(run, { next: number + 1, end: at + bytes, isBusy: false })
      },
      giveBack: () => {
        run.isBusy = false
      },
    }
  }

  /** The place of the last part in a run, to cut the run there; undefined if the etag does not name it. */
  lastPlace(object: string, etag: string): RunPlace | undefined {
    const run = this.#runs.get(object)
    const place = runPlaceOf(etag)
    if (!run || run.isBusy || place?.name !== run.name || place.at !== run.starts.at(-1)) return undefined
    run.isBusy = true
    return {
      ...{ name: run.name, at: place.at, etag },
      keep: () => {
        run.isBusy = false
      },
      giveBack: () => {
        run.starts.pop()
        Object.assign(run, { end: place.at, isBusy: false })
      },
    }
  }

  /** Forgets the run of an upload that has ended. */
  end(object: string): void {
    this.#runs.delete(object)
  }
}
