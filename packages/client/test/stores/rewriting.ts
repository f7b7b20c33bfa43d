// Waits for a file store that rewrites its file.
import { readdir, watch } from 'node:fs/promises'
import { until } from '../people.ts'

/** Resolves once a store in this folder has tried to rewrite its file, whether it could or not. */
export async function nextRewriting(folder: string): Promise<void> {
  for await (const { filename } of watch(folder)) if (filename === 'store.log.next') break
  await until('the new file is gone', async () => !(await readdir(folder)).includes('store.log.next'))
}
