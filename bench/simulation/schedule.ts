// The schedule of a simulation: virtual time, and the steps of all nodes, clients and connections in one
// order. Nothing runs beside it. A step runs until all microtasks that it caused have ended, and then the
// next one begins, so that a seed always gives the same run.
import { drainMicrotasks } from 'bun:jsc'

/** Something that takes steps: a node, a client, the database. */
export interface Owner {
  readonly name: string
  /** The steps of a dead owner never happen. */
  isDead: boolean
  /** Until then its steps wait, timers too: the process is stopped, or the machine sleeps. */
  asleepUntil: number
}

interface Step {
  at: number
  order: number
  readonly owner: Owner
  readonly what: string
  readonly run: () => void
  isCancelled: boolean
  /** Whether it waits until its owner wakes up. */
  isHeld: boolean
}

/** A timer that a part of a node set by a function of the process. */
class Timer {
  cancel: () => void = () => undefined

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

/** What follows an immediate: the next pass of an event loop is near, but not now. */
const NEXT_PASS_MS = 0.001

export class Schedule {
  /** Virtual milliseconds since the start. */
  now = 0
  /** How many steps have run. */
  count = 0
  readonly #heap: Step[] = []
  readonly #trace: ((line: string) => void) | undefined
  #order = 0
  #current: Owner | undefined
  /** When the last immediate of an owner runs: they keep their order. */
  readonly #immediates = new Map<Owner, number>()

  /** @param trace gets a line for each step */
  constructor(trace?: (line: string) => void) {
    this.#trace = trace
  }

  /** Says something in the trace. */
  say(line: string): void {
    this.#trace?.(`${this.now.toFixed(3).padStart(12)} ${line}`)
  }

  /** Adds a step. @returns a function that cancels it */
  after(ms: number, owner: Owner, what: string, run: () => void): () => void {
    const step = {
      at: this.now + ms,
      order: this.#order++,
      owner,
      what,
      run,
      isCancelled: false,
      isHeld: false,
    }
    this.#push(step)
    return () => {
      step.isCancelled = true
    }
  }

  /** Runs the next step. @returns false if none is left until then */
  runNext(until: number): boolean {
    for (;;) {
      const step = this.#heap[0]
      if (!step || step.at > until) {
        this.now = Math.max(this.now, until)
        return false
      }
      this.#pop()
      if (step.isCancelled || step.owner.isDead) continue
      this.now = Math.max(this.now, step.at)
      if (step.owner.asleepUntil > this.now) {
        // It waits with the others, in the order in which they would have run.
        step.at = step.owner.asleepUntil
        if (!step.isHeld) step.order = this.#order++
        step.isHeld = true
        this.#push(step)
        continue
      }
      this.count += 1
      this.say(`${step.owner.name}: ${step.what}`)
      this.#current = step.owner
      step.run()
      drainMicrotasks()
      this.#current = undefined
      return true
    }
  }

  /** Lets what waits for owners that sleep happen now. */
  wake(): void {
    for (const step of this.#heap) if (step.isHeld) step.at = this.now
    this.#heap.sort((a, b) => (isBefore(a, b) ? -1 : 1))
  }

  /** Runs all steps until then, or until a condition is true. It is asked before each step. */
  runUntil(at: number, isDone: () => boolean = () => false): void {
    while (!isDone() && this.runNext(at));
  }

  /**
   * Runs something with the timers of the process in place of its own. They belong to the owner whose step
   * sets them. Nothing else of the process runs meanwhile, because the whole simulation is synchronous.
   */
  withTimers<T>(run: () => T): T {
    const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis
    const own = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate }
    const clear = (timer: unknown): void => {
      if (timer instanceof Timer) timer.cancel()
    }
    Object.assign(globalThis, {
      setTimeout: (callback: () => void, ms = 0) => this.#setTimeout(callback, ms),
      setInterval: (callback: () => void, ms = 0) => this.#setInterval(callback, ms),
      setImmediate: (callback: () => void) => this.#setImmediate(callback),
      ...{ clearTimeout: clear, clearInterval: clear, clearImmediate: clear },
    })
    try {
      return run()
    } finally {
      Object.assign(globalThis, own)
    }
  }

  #setTimeout(callback: () => void, ms: number): Timer {
    const timer = new Timer()
    timer.cancel = this.after(ms, this.#setter(), 'timer', callback)
    return timer
  }

  #setInterval(callback: () => void, ms: number): Timer {
    const timer = new Timer()
    const owner = this.#setter()
    const wait = (): void => {
      timer.cancel = this.after(ms, owner, `every ${ms} ms`, () => {
        wait()
        callback()
      })
    }
    wait()
    return timer
  }

  #setImmediate(callback: () => void): Timer {
    const timer = new Timer()
    const owner = this.#setter()
    const at = Math.max(this.now, this.#immediates.get(owner) ?? 0) + NEXT_PASS_MS
    this.#immediates.set(owner, at)
    timer.cancel = this.after(at - this.now, owner, 'immediate', callback)
    return timer
  }

  #setter(): Owner {
    if (!this.#current) throw new Error('a timer was set outside of any step')
    return this.#current
  }

  #push(step: Step): void {
    const heap = this.#heap
    let index = heap.push(step) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent]
      if (!above || isBefore(above, step)) break
      heap[index] = above
      index = parent
    }
    heap[index] = step
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      const [left, right] = [heap[child], heap[child + 1]]
      if (!left) break
      const least = right && isBefore(right, left) ? right : left
      if (least === right) child += 1
      if (isBefore(last, least)) break
      heap[index] = least
      index = child
    }
    heap[index] = last
  }
}

function isBefore(a: Step, b: Step): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
