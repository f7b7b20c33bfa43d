// `npm run docs`: writes the client's API reference, docs/client/reference, from the source. A test checks
// that the reference is up to date.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDeclarations } from './client-package/declarations.ts'
import { ROOT, readEntries, readManifest } from './client-package/entries.ts'
import { makeReference, type Page } from './client-package/reference.ts'

/** The folder of the reference. */
export const REFERENCE = join(ROOT, 'docs/client/reference')

/** Makes the pages of the reference from the current source. */
export async function makePages(): Promise<readonly Page[]> {
  const [{ name }, entries] = await Promise.all([readManifest(), readEntries()])
  const specifiers = new Map(entries.map((entry) => [entry.name, `${name}${entry.key.slice(1)}`]))
  return makeReference(await makeDeclarations(), specifiers)
}

if (import.meta.main) {
  const pages = await makePages()
  await rm(REFERENCE, { recursive: true, force: true })
  for (const { name, text } of pages) await Bun.write(join(REFERENCE, name), text)
}
