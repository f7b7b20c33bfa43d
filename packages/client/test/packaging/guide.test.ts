// The guide and the reference match the code. The tests run the guide's blocks unchanged, and generate the
// reference again. guide-pages.test.ts runs the guide's pages.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type RelayProcess, startRelay } from '@sotto/relay/testing'
import { makePages, REFERENCE } from '../../../../scripts/client-docs.ts'
import { Person, until } from '../people.ts'
import { GUIDE, programOf, README } from './guide.ts'
import { makeApp, type PackedClient, packClient, run } from './packed.ts'

const TSC = join(import.meta.dir, '../../../../node_modules/typescript/bin/tsc')
const LIMIT_MS = 400_000

test(
  'the reference matches the source (npm run docs generates it)',
  async () => {
    const pages = await makePages()
    const files = [...new Bun.Glob('*').scanSync(REFERENCE)].sort()
    expect(files).toEqual(pages.map(({ name }) => name).sort())
    for (const { name, text } of pages) expect(await Bun.file(join(REFERENCE, name)).text()).toBe(text)
  },
  LIMIT_MS,
)

describe('the documented program', () => {
  let relay: RelayProcess
  let client: PackedClient
  beforeAll(async () => {
    client = await packClient()
    relay = await startRelay({ env: { PAYMENTS: 'dev' } })
  }, LIMIT_MS)
  afterAll(() => relay.stop())

  test(
    'for Bun and Node prints the lines that its comments say, and has no type errors',
    async () => {
      const { source, prints } = await programOf(GUIDE, 'ts', relay.url)
      const compilerOptions = {
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        target: 'esnext',
        module: 'nodenext',
        types: ['node'],
      }
      const tsconfig = JSON.stringify({ compilerOptions, files: ['guide.ts'] })
      const app = await makeApp(client, { 'guide.ts': source, 'tsconfig.json': tsconfig }, ['@types/node'])
      await run([process.execPath, TSC, '-p', '.'], app.folder)
      const output = await run([process.execPath, 'guide.ts'], app.folder)
      expect(prints.length).toBeGreaterThan(10)
      expect(output.trim().split('\n')).toEqual([...prints])
      await app.remove()
    },
    LIMIT_MS,
  )

  test(
    'of the README answers a peer that writes to it',
    async () => {
      const { source } = await programOf(README, 'ts', relay.url)
      const app = await makeApp(client, { 'readme.ts': source })
      const program = Bun.spawn([process.execPath, 'readme.ts'], { cwd: app.folder, stdout: 'pipe' })
      const { value } = await program.stdout.getReader().read()
      const alias = /^write to (?<alias>\w+)$/m.exec(new TextDecoder().decode(value))?.groups?.alias ?? ''
      const bob = await Person.join('bob', relay.url)
      await bob.client.requestFriend(alias)
      await until('the program accepts', () => bob.heard.friend_accepted[0])
      await bob.client.send(alias, 'hello')
      await bob.receives('You said: hello')
      await bob.client.close()
      program.kill()
      await program.exited
      await app.remove()
    },
    LIMIT_MS,
  )
})
