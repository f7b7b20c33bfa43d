// The part of a module that runs next to the store: in the tab that runs the client, whichever tab calls it.
import * as v from 'valibot'
import { ClientError } from './client-error.ts'
import type { Device } from './device.ts'
import type { Emitter } from './events/events.ts'
import type { AnyTabMethod, TabMethod } from './tab-method.ts'

/** An event that a part publishes to every tab. Its name is the module's and its own: `search.changed`. */
export interface PartEvent<E> {
  readonly name: string
  readonly schema: v.GenericSchema<unknown, E>
}

/** Sends an event to the module of every tab. */
export type Publish = <E>(event: PartEvent<E>, value: NoInfer<E>) => void

/** How a part is made, and what of it the module may call. */
export interface PartDescription<T> {
  /** The methods, made by `tabMethod`. Each name is the module's and its own: `search.find`. */
  readonly methods: readonly AnyTabMethod<T>[]
  /**
   * Makes the part of a device. The device may have no identity yet, or be locked: its methods throw
   * `needEngine`'s errors then.
   */
  open(device: Device, publish: Publish): T
  /** Stores what the part has not stored yet. The store is closed afterwards. */
  close?(part: T): Promise<void>
}

/** A module's part, as the module calls it. */
export interface HostedPart<T> {
  /** Calls a method of the part, in the tab that runs the client. */
  call<A extends readonly unknown[], R>(method: TabMethod<T, A, R>, args: A): Promise<R>
  /** Calls `handler` for each event; returns a function that removes the handler. */
  on<E>(event: PartEvent<E>, handler: (value: E) => void): () => void
  /** With a `SharedClient`, what only tabs have. */
  readonly tabs?: PartTabs
}

/** What happens to the tabs of a part. */
export interface PartTabs {
  /** Calls `handler` after another tab has begun to run the client: its part knows nothing yet. */
  onTakeover(handler: () => void): void
  /** Calls `handler` before this tab leaves the others, while it can still send a request. */
  onLeaving(handler: () => void): void
}

/** The handlers of parts' events, by the event's name. */
export class PartEvents {
  readonly #emitter: Emitter
  readonly #handlers = new Map<string, Set<(carried: unknown) => void>>()

  /** `emitter` gets the errors of handlers. */
  constructor(emitter: Emitter) {
    this.#emitter = emitter
  }

  /** See `HostedPart.on`. */
  on<E>({ name, schema }: PartEvent<E>, handler: (value: E) => void): () => void {
    const entry = (carried: unknown): void => handler(v.parse(schema, carried))
    const handlers = this.#handlers.get(name) ?? new Set()
    this.#handlers.set(name, handlers.add(entry))
    return () => {
      handlers.delete(entry)
    }
  }

  /** Calls the handlers of an event. An error in one is reported and does not affect the others. */
  emit(name: string, carried: unknown): void {
    for (const handler of [...(this.#handlers.get(name) ?? [])]) {
      try {
        handler(carried)
      } catch (cause) {
        const error = new ClientError('HANDLER_FAILED', `a handler of ${name} threw`, { cause })
        this.#emitter.emit('error', error)
      }
    }
  }
}

/** A part that was opened on a device. */
interface OpenPart<T> {
  readonly part: T
  readonly events: PartEvents
}

/**
 * A module's part. Make it once, in the module's file:
 *
 *     const find = tabMethod('search.find', { takes, answers }, (index: Index, query) => index.find(query))
 *     const part = new ModulePart({ methods: [find], open: (device) => new Index(device) })
 *
 * The module calls it through `hostPart(client, part)`. Arguments, answers and events must be plain data,
 * because they may cross from one tab to another.
 */
export class ModulePart<T> {
  readonly #description: PartDescription<T>
  readonly #opened = new WeakMap<Device, OpenPart<T>>()

  constructor(description: PartDescription<T>) {
    this.#description = description
  }

  /**
   * Opens the part on a device, if it is not open there. Each event is passed to `onEvent`, or to the
   * handlers of the answered `events`.
   */
  openOn(device: Device, onEvent?: (name: string, value: unknown) => void): OpenPart<T> {
    const before = this.#opened.get(device)
    if (before) return before
    const { open, close } = this.#description
    const events = new PartEvents(device.emitter)
    const emit = onEvent ?? ((name, value) => events.emit(name, value))
    const part = open(device, ({ name }, value) => emit(name, value))
    const opened = { part, events }
    this.#opened.set(device, opened)
    if (close) device.closing.push(() => close(part))
    return opened
  }

  /** The method as one of the device. */
  onDevice<A extends readonly unknown[], R>(method: TabMethod<T, A, R>): TabMethod<Device, A, R> {
    const partOf = (device: Device): T => this.openOn(device).part
    return {
      ...method,
      run: (device, args, again) => method.run(partOf(device), args, again),
      runCarried: (device, args, again) => method.runCarried(partOf(device), args, again),
    }
  }

  /** The method of a name that another tab sent, if this part has it. */
  find(name: string): AnyTabMethod<Device> | undefined {
    const method = this.#description.methods.find((each) => each.name === name)
    return (
      method && {
        ...method,
        runCarried: (device, args, again) => method.runCarried(this.openOn(device).part, args, again),
      }
    )
  }
}

/** A part, without the type of its object. */
export type AnyModulePart = Pick<ModulePart<unknown>, 'openOn' | 'find'>

/** Hosts a part on a device of this tab. */
export function hostHere<T>(device: Device, part: ModulePart<T>): HostedPart<T> {
  const { part: object, events } = part.openOn(device)
  return {
    call: (method, args) => method.run(object, args, false),
    on: (event, handler) => events.on(event, handler),
  }
}
