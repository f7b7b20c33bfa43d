// The worker for the erasure key: only a worker can write a file of the origin's private file system in
// place. A separate script.
import type { SlotsAnswer, SlotsQuestion } from './erasure-worker-messages.ts'
import { ERASED, isSameSlot } from './slot-bytes.ts'

/** Each slot has a block of its own, so that a torn write of one does not touch the other. */
const BLOCK_BYTES = 4096
/** How long to wait for a tab that holds the file. A tab holds it for one answer, or until it has ended. */
const PATIENCE_MS = 5000
/** A tab that has ended may hold the file for a moment longer than its lock. */
const ATTEMPTS = 50
const ATTEMPT_MS = 20

/** What the standard calls `FileSystemSyncAccessHandle`. */
interface AccessHandle {
  read(buffer: Uint8Array, options: { at: number }): number
  write(buffer: Uint8Array, options: { at: number }): number
  getSize(): number
  flush(): void
  close(): void
}
type OpenHandle = () => Promise<AccessHandle>

let last: Promise<unknown> = Promise.resolve()

globalThis.addEventListener('message', ({ data }: MessageEvent<SlotsQuestion>) => {
  last = last.then(async () => globalThis.postMessage(await answer(data)))
})

async function answer(question: SlotsQuestion): Promise<SlotsAnswer> {
  const { id, file } = question
  try {
    const open = await accessTo(file)
    if (!open) return { id, refusal: 'missing' }
    // The lock is free again when the tab that holds it ends, also if it crashes.
    return await navigator.locks.request(
      `sotto erasure ${file}`,
      { signal: AbortSignal.timeout(PATIENCE_MS) },
      async (): Promise<SlotsAnswer> => {
        const handle = await opened(open)
        if (!handle) return { id, refusal: 'locked' }
        try {
          return answerWith(handle, question)
        } finally {
          handle.close()
        }
      },
    )
  } catch (error) {
    if (nameOf(error) === 'TimeoutError') return { id, refusal: 'locked' }
    return { id, failure: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }
  }
}

/**
 * Answers with the open file. Nothing in here waits, so no other answer comes between reading and writing.
 */
function answerWith(handle: AccessHandle, question: SlotsQuestion): SlotsAnswer {
  const { id } = question
  const size = handle.getSize()
  if (size < 2 * BLOCK_BYTES) {
    // The first time, or a crash cut the first time short.
    writeAll(handle, new Uint8Array(2 * BLOCK_BYTES - size), size)
  }
  if (question.ask === 'replace') {
    const { slot, before, after } = question
    if (!isSameSlot(slotAt(handle, slot), before)) return { id, refusal: 'changed' }
    writeAll(handle, after, slot * BLOCK_BYTES)
  }
  return { id, slots: [slotAt(handle, 0), slotAt(handle, 1)] }
}

function slotAt(handle: AccessHandle, slot: number): Uint8Array {
  const bytes = new Uint8Array(ERASED.length)
  if (handle.read(bytes, { at: slot * BLOCK_BYTES }) !== bytes.length) throw new Error('the file is short')
  return bytes
}

function writeAll(handle: AccessHandle, bytes: Uint8Array, at: number): void {
  if (handle.write(bytes, { at }) !== bytes.length) throw new Error('the file was not written whole')
  handle.flush()
}

/** Opens the file; undefined if another tab holds it. */
async function opened(open: OpenHandle): Promise<AccessHandle | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      return await open()
    } catch (error) {
      if (nameOf(error) !== 'NoModificationAllowedError') throw error
      await new Promise((resolve) => setTimeout(resolve, ATTEMPT_MS))
    }
  }
  return undefined
}

/** How to open the file of this name; undefined if the browser has no such files. */
async function accessTo(file: string): Promise<OpenHandle | undefined> {
  const root = await directory()
  if (!root) return undefined
  const handle = await root.getFileHandle(file, { create: true })
  const create: unknown = Reflect.get(handle, 'createSyncAccessHandle')
  return typeof create === 'function' ? () => Reflect.apply(create, handle, []) : undefined
}

/** The origin's files; undefined in a private window of Firefox, which has none. */
async function directory(): Promise<FileSystemDirectoryHandle | undefined> {
  try {
    return await navigator.storage.getDirectory()
  } catch (error) {
    if (nameOf(error) === 'SecurityError') return undefined
    throw error
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : ''
}
