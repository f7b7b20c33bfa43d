// Files that others send: their names are harmless, and no file is overwritten.
import { expect, test } from 'bun:test'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { harmlessName, saveAs } from './received-file.ts'

test('a name that was sent leads nowhere, hides nothing and is not too long', () => {
  const names: [string, string][] = [
    ['report.pdf', 'report.pdf'],
    ['../../.profile', '_.._.profile'],
    ['/etc/passwd', '_etc_passwd'],
    ['..', 'file'],
    ['.bashrc', 'bashrc'],
    ['C:\\Windows\\evil.exe', 'C__Windows_evil.exe'],
    ['\u202egpj.exe', 'gpj.exe'],
    ['a\u001b[2Jb\nc.txt', 'a_[2Jb c.txt'],
    ['CON.txt', '_CON.txt'],
    ['  spaces . ', 'spaces'],
    ['', 'file'],
    ['日本語.png', '日本語.png'],
  ]
  for (const [sent, name] of names) expect(harmlessName(sent)).toBe(name)
  expect(Buffer.byteLength(harmlessName(`${'日'.repeat(300)}.png`))).toBeLessThanOrEqual(150)
  expect(harmlessName(`${'x'.repeat(300)}.png`)).toEndWith('.png')
})

test('an existing file is never overwritten, and nothing is left of a download that fails', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-received-'))
  try {
    await writeFile(join(folder, 'a.txt'), 'mine')
    const save = (text: string) => saveAs(folder, 'a.txt', (path) => writeFile(path, text))
    expect(await Promise.all([save('one'), save('two')])).toSatisfy(
      (paths: string[]) => new Set(paths).size === 2 && !paths.includes(join(folder, 'a.txt')),
    )
    expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('mine')
    const failing = saveAs(folder, 'a.txt', () => Promise.reject(new Error('no network')))
    expect(await failing.catch(String)).toBe('Error: no network')
    expect((await readdir(folder)).sort()).toEqual(['a (2).txt', 'a (3).txt', 'a.txt'])
  } finally {
    await rm(folder, { recursive: true })
  }
})
