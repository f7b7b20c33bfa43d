// ML-KEM-768 in an engine: which one the library chooses there, and X-Wing's vectors by it.
import { expect } from 'bun:test'
import { join } from 'node:path'
import { serveApp } from '../../../client/test/browser/chromium.ts'
import type { XWingVector } from '../../../mls/test/compute-x-wing.ts'
import { readVectors } from '../../../mls/test/vectors.ts'
import type { Engine } from './tab.ts'

const APP = join(import.meta.dir, '../../../client/test/browser/ml-kem-app.ts')

/** Opens a page that has WebCrypto. Expects X-Wing's vectors and this implementation of ML-KEM there. */
export async function mlKemStory(engine: Engine, implementation: 'web' | 'noble'): Promise<void> {
  const app = await serveApp(APP)
  try {
    const tab = await engine.newProfile()
    await tab.open(app.url)
    const vectors = await readVectors<XWingVector[]>('x-wing')
    const found = await tab.compute(`mlKemFindings(${JSON.stringify(vectors)})`)
    expect(found).toMatchObject({ implementation, xWing: vectors.map(({ pk, ss }) => ({ pk, ss })) })
    await tab.close()
  } finally {
    await app.stop()
  }
}
