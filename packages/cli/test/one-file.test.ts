// The one file, alone: without this clone, other programs, an environment, or a network.
import { afterAll, expect, test } from 'bun:test'
import { cp, mkdir, mkdtemp, readdir, readlink, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adminFolder, appFolder } from '../../../scripts/app-build.mjs'
import { copySources } from '../../../scripts/copy-sources.ts'
import { buildDebianPackages } from '../../../scripts/relay-build/build.ts'
import { ownTarget, run } from '../../../scripts/relay-build/targets.ts'
import { until } from '../../client/test/people.ts'
import manifest from '../package.json' with { type: 'json' }
import { commands } from '../src/commands.ts'
import { PipedChat } from './terminals.ts'

const root = await mkdtemp(join(tmpdir(), 'sotto-one-file-'))
afterAll(() => rm(root, { recursive: true }))
const dist = join(root, 'dist')
const target = await ownTarget()
await buildDebianPackages({ targets: [target], folder: dist, print: () => {} })
const file = join(dist, `sotto-${target.name}`)

/** A build takes seconds of the processor, and on a busy machine a hundred times that. */
const BUILD_MS = 600_000

const environment = { HOST: '127.0.0.1', PORT: '0', RATE_LIMITS: 'off', LIMIT_POW_DIFFICULTY: '1' }

/** Runs the file in a folder, and ends it with the test. */
function start(folder: string, args: readonly string[], env: Record<string, string> = environment) {
  return Bun.spawn([file, ...args], { cwd: folder, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
}

async function outputOf(folder: string, ...args: string[]): Promise<{ code: number; text: string }> {
  const child = start(folder, args)
  const [text, problem] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, text: text + problem }
}

async function newFolder(): Promise<string> {
  return await mkdtemp(join(root, 'folder-'))
}

/** A relay of the file that accepts connections. */
async function serve(folder: string, env: Record<string, string> = environment) {
  const child = start(folder, ['serve', '--data-dir', 'data'], env)
  const reader = child.stdout.getReader()
  let output = ''
  while (!output.includes('Next:')) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`it ended: ${output}${await new Response(child.stderr).text()}`)
    output += new TextDecoder().decode(value)
  }
  return { child, output, url: /listens on (\S+)/.exec(output)?.[1] ?? '' }
}

test('it serves the app, two people talk in terminals, and a backup is made', async () => {
  const folder = await newFolder()
  const { child, output, url } = await serve(folder)
  try {
    expect(output).toContain(`Next: open a second terminal here and run  ${file} chat --relay ${url}`)
    const page = await fetch(url, { headers: { accept: 'text/html', 'accept-encoding': 'br' } })
    expect(page.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'")
    const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(await page.text())?.[1]
    const answer = await fetch(`${url}/${script}`, { headers: { 'accept-encoding': 'br' } })
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, 'br'])

    const style = await fetch(`${url}/pay/assets/any/page.css`)
    expect(await style.text()).toContain('prefers-color-scheme')

    const { text } = await outputOf(folder, 'admin', '--json', '--data-dir', 'data')
    const admin = await fetch(JSON.parse(text).url)
    const adminScript = /src="\.\/(assets\/[^"]+\.js)"/.exec(await admin.text())?.[1]
    expect((await fetch(new URL(adminScript ?? '', admin.url))).status).toBe(200)

    const chat = (name: string): PipedChat =>
      new PipedChat(['--relay', url, '--home', join(folder, name), '--nickname', name], {}, [file])
    const [alice, bob] = [chat('alice'), chat('bob')]
    for (const each of [alice, bob]) {
      await each.sees(/Press Enter/)
      each.enter('')
      await each.sees(/connected/)
    }
    const alias = /alias (\w+)\./.exec(await bob.sees(/You are .*alias \w+\./))?.[1] ?? ''
    alice.enter(`/add ${alias}`)
    await bob.sees(/alice asks to be your friend/)
    bob.enter('/accept')
    await alice.sees(/is your friend now/)
    alice.enter('hello from one file')
    await bob.sees(/alice: hello from one file/)
    for (const each of [alice, bob]) expect(await each.end()).toBe(0)

    // The thread that copies the log into the database is inside, too.
    const log = join(folder, 'data/sotto.db-wal')
    await until('the log is emptied', async () => (await stat(log)).size === 0)
    expect(await outputOf(folder, 'backup', '--data-dir', 'data', '--to', 'copy.db')).toMatchObject({
      code: 0,
    })
    expect((await stat(join(folder, 'copy.db'))).size).toBeGreaterThan(0)
  } finally {
    child.kill('SIGTERM')
  }
  expect(await child.exited).toBe(0)
})

test('files of the folder where it is called change nothing', async () => {
  const folder = await newFolder()
  const trace = join(folder, 'trace')
  const script = `require('node:fs').writeFileSync(${JSON.stringify(trace)}, 'run')`
  await Promise.all([
    Bun.write(join(folder, '.env'), 'APP_DIR=off\nPORT=1\nBUN_OPTIONS=--preload=./preload.js\n'),
    Bun.write(join(folder, '.env.production'), 'APP_DIR=off\n'),
    Bun.write(join(folder, 'bunfig.toml'), 'preload = ["./preload.js"]\n[serve]\nport = 1\n'),
    Bun.write(join(folder, 'package.json'), '{ "imports": { "pino": "./preload.js" }, "type": "commonjs" }'),
    Bun.write(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "paths": { "*": ["./preload.js"] } } }'),
    Bun.write(join(folder, 'preload.js'), script),
    Bun.write(join(folder, 'node_modules/pino/index.js'), script),
    Bun.write(join(folder, 'dist/index.html'), 'another app'),
    Bun.write(join(folder, 'checkpoint-thread.ts'), script),
  ])
  const { child, output, url } = await serve(folder)
  expect(output).toContain(`App: open ${url} in a browser`)
  const page = await fetch(url, { headers: { accept: 'text/html' } })
  expect(await page.text()).toContain('<title>Sotto</title>')
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
  expect(await readdir(folder)).not.toContain('trace')
})

test('all commands and the licences of all that is inside are in it', async () => {
  const folder = await newFolder()
  expect(await outputOf(folder, '--version')).toEqual({ code: 0, text: `${manifest.version}\n` })
  const overview = (await outputOf(folder)).text
  for (const { name, summary } of commands) expect(overview).toMatch(new RegExp(`sotto ${name} +${summary}`))
  const { code, text } = await outputOf(folder, 'licences')
  expect(code).toBe(0)
  const inside = await billOf(dist)
  for (const name of ['viem', 'pino', 'preact', 'valibot', 'ts-mls'])
    expect(inside.map((each) => each.name)).toContain(name)
  for (const { name, version } of inside)
    if (!/sotto/.test(name)) expect(text).toContain(`${name.replace(/^@oven.*/, 'bun')} ${version}: `)
  expect(text).toContain('Apache License')
})

test(
  'the same bits are built in another folder, and the hash and the bill of materials are of them',
  async () => {
    const copy = join(root, 'another place/sotto')
    await copySources(copy)
    await cp(appFolder, join(copy, 'packages/web/dist'), { recursive: true })
    await cp(adminFolder, join(copy, 'packages/web/dist-admin'), { recursive: true })
    await run([process.execPath, join(copy, 'scripts/build.ts'), 'deb', target.name], root)
    const hashes = await Bun.file(join(dist, 'SHA256SUMS')).text()
    expect(await Bun.file(join(copy, 'dist/SHA256SUMS')).text()).toBe(hashes)
    const sha256 = new Bun.CryptoHasher('sha256').update(await Bun.file(file).bytes()).digest('hex')
    expect(hashes).toStartWith(`${sha256}  sotto-${target.name}\n`)
    expect(hashes).toEndWith('.deb\n')
    const bill = await Bun.file(`${file}.cdx.json`).json()
    expect(bill.metadata.component.hashes).toEqual([{ alg: 'SHA-256', content: sha256 }])
    expect(await Bun.file(join(copy, `dist/sotto-${target.name}.cdx.json`)).json()).toEqual(bill)
  },
  BUILD_MS,
)

test('Debian installs it as a service with a user, and keeps what people wrote when it is removed', async () => {
  const system = await newFolder()
  for (const folder of ['info', 'updates'])
    await mkdir(join(system, 'var/lib/dpkg', folder), { recursive: true })
  await Bun.write(join(system, 'var/lib/dpkg/status'), '')
  const [name = ''] = (await readdir(dist)).filter((each) => each.endsWith('.deb'))
  const dpkg = (...words: string[]): Promise<string> =>
    run(
      [...ROOT_WORDS, 'dpkg', `--root=${system}`, `--log=${join(system, 'log')}`, ...DPKG_WORDS, ...words],
      root,
    )
  const settings = join(system, 'etc/sotto/sotto.env')
  const wanted = join(system, 'etc/systemd/system/multi-user.target.wants/sotto.service')

  await dpkg('--install', join(dist, name))
  expect(await Bun.file(join(system, 'etc/passwd')).text()).toMatch(/^sotto:.*:\/var\/lib\/sotto:.*nologin$/m)
  expect(await readlink(wanted)).toBe('/usr/lib/systemd/system/sotto.service')
  expect((await stat(join(system, 'var/lib/sotto'))).mode & 0o777).toBe(0o700)
  expect((await stat(settings)).mode & 0o777).toBe(0o600)
  expect(await run([join(system, 'usr/bin/sotto'), '--version'], root)).toBe(`${manifest.version}\n`)

  await Bun.write(settings, 'PUBLIC_URL=https://relay.example\n')
  await Bun.write(join(system, 'var/lib/sotto/sotto.db'), 'what people wrote')
  await dpkg('--install', join(dist, name))
  await dpkg('--remove', 'sotto')
  expect(await Bun.file(join(system, 'usr/bin/sotto')).exists()).toBe(false)
  expect(await Bun.file(settings).text()).toBe('PUBLIC_URL=https://relay.example\n')
  await dpkg('--purge', 'sotto')
  expect(await Bun.file(settings).exists()).toBe(false)
  expect(await Bun.file(join(system, 'var/lib/sotto/sotto.db')).text()).toBe('what people wrote')
})

/** It is installed into a folder with nothing in it, not even a shell. So its scripts run outside. */
const DPKG_WORDS = ['--force-script-chrootless', '--force-depends', '--force-bad-path', '--force-confold']
/** dpkg works for root only; others are it in a namespace. */
const ROOT_WORDS = process.getuid?.() === 0 ? [] : ['unshare', '--map-root-user']

/** The components that the bill of materials names. */
async function billOf(folder: string): Promise<readonly { name: string; version: string }[]> {
  const { components } = await Bun.file(join(folder, `sotto-${target.name}.cdx.json`)).json()
  return components
}
