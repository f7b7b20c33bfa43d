// The lock of a folder that another user may write to.
import { expect, test } from 'bun:test'
import { mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockFolder } from './sqlite.ts'

test('a link in the place of the lock is refused, and where it leads nothing is made or changed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-lock-'))
  try {
    const [inside, outside] = [join(folder, 'inside'), join(folder, 'outside')]
    await Bun.write(join(inside, 'other'), '')
    await Bun.write(join(outside, 'there'), 'of root', { mode: 0o644 })
    for (const name of ['there', 'not-there']) {
      await symlink(join(outside, name), join(inside, 'lock.db'))
      expect(() => lockFolder(inside)).toThrow(`${join(inside, 'lock.db')} is a link; remove it`)
      await rm(join(inside, 'lock.db'))
    }
    expect(await readdir(outside)).toEqual(['there'])
    expect((await stat(join(outside, 'there'))).mode & 0o777).toBe(0o644)
    lockFolder(inside).close()
  } finally {
    await rm(folder, { recursive: true })
  }
})
