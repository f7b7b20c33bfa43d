// The names of a declaration file that is being written: the declared ones, those imported from the core, and
// those that still have to be declared.
import type { Symbol as TypeSymbol } from 'typescript/unstable/async'

/** Assigns names to symbols, and remembers which symbols still need a declaration. */
export class Scope {
  readonly #core: ReadonlyMap<number, string>
  readonly #names = new Map<number, string>()
  readonly #imported = new Set<string>()
  readonly #waiting: { readonly symbol: TypeSymbol; readonly name: string }[] = []

  /** @param core the names that the core declares, by symbol; empty for the core itself */
  constructor(core: ReadonlyMap<number, string>) {
    this.#core = core
  }

  /** All names that this file declares itself, by symbol. */
  get declared(): ReadonlyMap<number, string> {
    return new Map([...this.#names].filter(([id]) => !this.#core.has(id)))
  }

  /** The names imported from the core, in alphabetical order. */
  get imported(): readonly string[] {
    return [...this.#imported].sort()
  }

  /** The name of a symbol in this file. From now on the file must declare or import it. */
  nameOf(symbol: TypeSymbol, name: string = symbol.name): string {
    const known = this.#names.get(symbol.id)
    if (known !== undefined) return known
    if ([...this.#names.values()].includes(name)) throw new Error(`two things are called ${name}`)
    this.#names.set(symbol.id, name)
    const inCore = this.#core.get(symbol.id)
    if (inCore === undefined) this.#waiting.push({ symbol, name })
    else this.#imported.add(inCore === name ? name : `${inCore} as ${name}`)
    return name
  }

  /** The next symbol to declare. */
  next(): { readonly symbol: TypeSymbol; readonly name: string } | undefined {
    return this.#waiting.shift()
  }
}
