// The parts of modules in a tab: which ones it has, and their events.
import type { SottoClient } from '../client.ts'
import type { Emitter } from '../events/events.ts'
import { deviceOf } from '../module-access.ts'
import { type AnyModulePart, type ModulePart, PartEvents } from '../module-part.ts'
import type { AnyTabMethod, TabMethod } from '../tab-method.ts'
import { findMethod } from './tab-methods.ts'

/** Receives an event of a part that runs in this tab. */
type OnPartEvent = (name: string, value: unknown) => void

/** The parts that the modules of this tab host. They run in the tab that runs the client. */
export class TabParts {
  /** The handlers of this tab. */
  readonly events: PartEvents
  readonly #parts = new Set<AnyModulePart>()

  constructor(emitter: Emitter) {
    this.events = new PartEvents(emitter)
  }

  add(part: AnyModulePart): void {
    this.#parts.add(part)
  }

  /** Opens every part on the client that this tab runs. Those that are open stay as they are. */
  openOn(client: SottoClient, onEvent: OnPartEvent): void {
    for (const part of this.#parts) part.openOn(deviceOf(client), onEvent)
  }

  /** A method of the client or of a part, by the name that another tab sent. */
  find(name: string): AnyTabMethod<SottoClient> | undefined {
    const own = findMethod(name)
    if (own) return own
    for (const part of this.#parts) {
      const method = part.find(name)
      if (!method) continue
      return {
        ...method,
        runCarried: (client, args, again) => method.runCarried(deviceOf(client), args, again),
      }
    }
    return undefined
  }
}

/** A part's method as one of the client. */
export function onClient<T, A extends readonly unknown[], R>(
  part: ModulePart<T>,
  method: TabMethod<T, A, R>,
): TabMethod<SottoClient, A, R> {
  const { run, runCarried } = part.onDevice(method)
  return {
    ...method,
    run: (client, args, again) => run(deviceOf(client), args, again),
    runCarried: (client, args, again) => runCarried(deviceOf(client), args, again),
  }
}

/** Whether this is the name of a module's method or event. Those of the client have no dot. */
export function isOfModule(name: string): boolean {
  return name.includes('.')
}
