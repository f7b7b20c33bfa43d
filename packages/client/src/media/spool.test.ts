// The spool for a Blob: the result does not depend on the sizes of the pieces.
import { expect, test } from 'bun:test'
import { intoBlob } from './spool.ts'

const LARGE = 256 * 1024

test('a download contains everything that was written, in order, with pieces of any size', async () => {
  const sizes = [0, 1, LARGE - 1, 1, LARGE, LARGE + 1, 7, 0, 3 * LARGE, LARGE - 7, 8, 5]
  const spool = intoBlob()
  const written: Uint8Array[] = []
  for (const [at, size] of sizes.entries()) {
    const bytes = new Uint8Array(size).fill(at + 1)
    written.push(bytes.slice())
    await spool.write(bytes)
    bytes.fill(255) // The caller may reuse the bytes once `write` has resolved.
  }
  const got = new Uint8Array(await (await spool.finish()).arrayBuffer())
  expect(Buffer.compare(got, Buffer.concat(written))).toBe(0)
})

test('a file in a hundred thousand chunks does not create a hundred thousand Blobs', async () => {
  const TheBlob = globalThis.Blob
  let made = 0
  globalThis.Blob = class extends TheBlob {
    constructor(parts?: BlobPart[]) {
      super(parts)
      made += 1
    }
  }
  try {
    const spool = intoBlob()
    for (let chunk = 0; chunk < 100_000; chunk++) await spool.write(new Uint8Array([chunk]))
    expect((await spool.finish()).size).toBe(100_000)
    expect(made).toBeLessThan(10)
  } finally {
    globalThis.Blob = TheBlob
  }
})
