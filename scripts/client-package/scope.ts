// The names of one declaration file in the making: what it declares, what it takes from the core, what still has to come.
import type { Symbol as TypeSymbol } from 'typescript/unstable/async'

/** Gives names out, and remembers what a name has to stand for. */
export class Scope {
  readonly #core: ReadonlyMap<number, string>
  readonly #names = new Map<number, string>()
  readonly #imported = new Set<string>()
  readonly #waiting: { readonly symbol: TypeSymbol; readonly name: string }[] = []

  /** @param core names of what the core declares, by symbol; nothing for the core itself */
  constructor(core: ReadonlyMap<number, string>) {
    this.#core = core
  }

  /** Every name given out for what this file declares itself, by symbol. */
  get declared(): ReadonlyMap<number, string> {
    return new Map([...this.#names].filter(([id]) => !this.#core.has(id)))
  }

  /** What was taken from the core, in order of the alphabet. */
  get imported(): readonly string[] {
    return [...this.#imported].sort()
  }

  /** The name a symbol goes by in this file, which from now on has to declare or import it. */
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
