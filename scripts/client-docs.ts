// `npm run docs`: writes the client's API reference, docs/client/reference, from the source. A test holds it there.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDeclarations } from './client-package/declarations.ts'
import { ROOT, readEntries, readManifest } from './client-package/entries.ts'
import { makeReference, type Page } from './client-package/reference.ts'

/** Where the reference lies. */
export const REFERENCE = join(ROOT, 'docs/client/reference')

/** The pages of the reference, as the source has them now. */
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
