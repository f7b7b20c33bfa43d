// The small file system for tests: it is full when it should be, and it leaves nothing behind.
import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mountSmallDisk } from './small-disk.ts'

const isMounted = (folder: string): boolean => readFileSync('/proc/mounts', 'utf8').includes(` ${folder} `)

test('it can be filled up and emptied, and is gone after its use', async () => {
  let folder = ''
  {
    await using disk = await mountSmallDisk(2)
    ;({ folder } = disk)
    expect(isMounted(folder)).toBe(true)
    disk.fillUpTo(0)
    expect(disk.freeBytes()).toBe(0)
    expect(() => writeFileSync(join(folder, 'more'), 'x')).toThrow('ENOSPC')
    disk.empty()
    writeFileSync(join(folder, 'more'), 'x')
  }
  expect([isMounted(folder), existsSync(folder)]).toEqual([false, false])
})

test('a test process that is killed leaves no file system and no folder', async () => {
  const program = `
    import { mountSmallDisk } from ${JSON.stringify(join(import.meta.dir, 'small-disk.ts'))}
    console.log((await mountSmallDisk(1)).folder)
    await Bun.sleep(60_000)`
  const tests = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' })
  const { value } = await tests.stdout.getReader().read()
  const folder = new TextDecoder().decode(value).trim()
  expect(isMounted(folder)).toBe(true)

  tests.kill('SIGKILL')
  await tests.exited
  for (let triesLeft = 600; triesLeft > 0 && existsSync(folder); triesLeft--) await Bun.sleep(50)
  expect([isMounted(folder), existsSync(folder)]).toEqual([false, false])
})

test('a process with a file system that it did not remove can end', async () => {
  const program = `
    import { mountSmallDisk } from ${JSON.stringify(join(import.meta.dir, 'small-disk.ts'))}
    await mountSmallDisk(1)`
  const tests = Bun.spawn([process.execPath, '-e', program])
  expect(await tests.exited).toBe(0)
})
