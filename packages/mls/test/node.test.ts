// The basic story under Node, whose WebCrypto has no ML-KEM in version 20: by noble.
import { expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

test('two devices speak, renew their keys and rejoin under Node', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-mls-'))
  try {
    const built = await Bun.build({
      entrypoints: [join(import.meta.dir, 'node-story.ts')],
      target: 'browser',
      format: 'esm',
      outdir: folder,
      naming: 'story.mjs',
    })
    expect(built.success).toBe(true)
    const child = Bun.spawn(['node', join(folder, 'story.mjs')], { stdout: 'pipe', stderr: 'pipe' })
    const [out, errors, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    expect([code, errors]).toEqual([0, ''])
    expect(JSON.parse(out)).toEqual(['from alice', 'from bob', '2', 'after the rejoin'])
  } finally {
    await rm(folder, { recursive: true })
  }
})
