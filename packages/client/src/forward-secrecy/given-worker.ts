// The worker that erases keys, if the application starts it in a way of its own.

let startWorker: (() => Worker) | undefined

/** Says how the worker starts; undefined for the address in this package. */
export function giveWorker(how: (() => Worker) | undefined): void {
  startWorker = how
}

/** How the application starts the worker, if it said so. */
export function givenWorker(): (() => Worker) | undefined {
  return startWorker
}
