// The command line from outside: what it prints, and its exit codes.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }

async function sotto(...args: string[]): Promise<{ code: number; output: string; errors: string }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts'), ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
    stdin: 'ignore',
  })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, output, errors }
}

test('every command has a help text', async () => {
  for (const args of [[], ['help'], ['--help'], ['-h']]) {
    const { code, output } = await sotto(...args)
    expect(code).toBe(0)
    expect(output).toContain('sotto serve')
    expect(output).toContain('sotto chat')
    expect(output).toContain('sotto orders')
  }
  for (const command of [
    'serve',
    'chat',
    'orders',
    'backup',
    'restore',
    'export',
    'compact',
    'accounts',
    'invites',
    'keys',
    'status',
    'doctor',
  ]) {
    const help = await sotto('help', command)
    expect(help.output).toStartWith(`Usage: sotto ${command}`)
    expect((await sotto(command, '--help')).output).toBe(help.output)
  }
})

test('the help of chat says which data is unencrypted', async () => {
  expect((await sotto('chat', '--help')).output).toContain('unencrypted')
})

test('the version is the version of the package', async () => {
  expect(await sotto('--version')).toEqual({ code: 0, output: `${manifest.version}\n`, errors: '' })
})

test('a wrong command line prints one line and exits with code 2', async () => {
  const mistakes = [
    ['dance'],
    ['--dance'],
    ['help', 'dance'],
    ['chat', '--dance'],
    ['chat', 'bob'],
    ['serve', '--port'],
    ['serve', '--port', 'x'],
    ['chat', '--relay', 'nowhere'],
    ['chat', '--relay', 'ftp://x'],
  ]
  for (const args of mistakes) {
    const { code, output, errors } = await sotto(...args)
    expect({ args, code, output }).toEqual({ args, code: 2, output: '' })
    expect(errors).toMatch(/^sotto: .+\n$/)
  }
})
