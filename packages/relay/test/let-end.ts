// Child processes that end with the process that started them.
import type { ChildProcess } from 'node:child_process'

/** Lets this process end although the child runs. */
export function letEnd(child: ChildProcess): void {
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref()
  }
}
