// Reads the published vectors of vectors/mls.
import { join } from 'node:path'

/** One file's content. What it should look like is stated by the test that reads it. */
export async function readVectors<T>(name: 'mls-implementations' | 'wycheproof' | 'x-wing'): Promise<T> {
  const packed = await Bun.file(join(import.meta.dir, '../../../vectors/mls', `${name}.json.gz`)).bytes()
  return JSON.parse(new TextDecoder().decode(Bun.gunzipSync(packed)))
}

export function hex(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, 'hex'))
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
