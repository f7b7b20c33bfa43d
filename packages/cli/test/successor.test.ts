// The process that starts the next relays: it goes back, and it passes signals on, at every moment. Scripts
// stand for the relays here, because relays cannot be stopped at chosen moments; upgrade.test.ts has relays.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../client/test/people.ts'

setDefaultTimeout(240_000)

let folder = ''
let parent: Bun.Subprocess<'ignore', 'pipe', 'inherit'> | undefined
afterEach(async () => {
  parent?.kill('SIGKILL')
  await parent?.exited
  await rm(folder, { recursive: true, force: true })
})

/** The source of a process that starts the program at `file`, and prints the events of its log. */
const source = `
  import { runSuccessors } from '${new URL('../src/upgrade/successor.ts', import.meta.url).pathname}'
  const [folder, readySeconds] = process.argv.slice(1)
  const write = (event) => console.log(event)
  const code = await runSuccessors({
    file: folder + '/sotto', args: [], environment: process.env,
    handedOver: { readySeconds: Number(readySeconds), stopSeconds: 240, log: { error: write, warn: write, info: write, debug: write } },
    isReady: (pid) => Bun.file(folder + '/ready.' + pid).exists(),
  })
  console.log('ended with ' + code)
  process.exit(0)`

/** Starts it with these programs. @returns the lines that it has printed */
async function start(
  programs: { next: string; former?: string },
  { mode = 0o755, readySeconds = 240 } = {},
): Promise<string[]> {
  folder = await mkdtemp(join(tmpdir(), 'sotto-successor-'))
  for (const [name, script] of [
    ['sotto', programs.next],
    ['sotto.previous', programs.former],
  ] as const) {
    if (script === undefined) continue
    await Bun.write(join(folder, name), `#!/bin/sh\ncd '${folder}'\n${script}\n`)
    await chmod(join(folder, name), name === 'sotto' ? mode : 0o755)
  }
  parent = Bun.spawn([process.execPath, '-e', source, folder, String(readySeconds)], {
    ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
  })
  const lines: string[] = []
  void (async () => {
    const decoder = new TextDecoder()
    let text = ''
    for await (const piece of parent.stdout) {
      text += decoder.decode(piece, { stream: true })
      lines.splice(0, lines.length, ...text.split('\n').slice(0, -1))
    }
  })()
  return lines
}

/** Says that it is ready, and runs until it is told to end. */
const RUNS = `trap 'exit 0' TERM; touch ready.$$; touch former-runs; while :; do sleep 0.05; done`

const exists = async (name: string): Promise<boolean> => (await readdir(folder)).includes(name)

test('a new program that the system does not start is no end: the former one runs', async () => {
  const lines = await start({ next: 'exit 0', former: RUNS }, { mode: 0o644 })
  await until('the former one runs', () => exists('former-runs'))
  await until('it is put back', async () => lines.includes('upgrade_undone'))
  expect(lines).toEqual(['upgrade_failed', 'upgrade_undone'])
  parent?.kill('SIGTERM')
  await until('it ends', async () => lines.includes('ended with 0'))
})

test('without a program that can be started it ends, and says so', async () => {
  const lines = await start({ next: 'exit 0' }, { mode: 0o644 })
  await until('it ends', async () => lines.includes('ended with 1'))
  expect(lines).toEqual(['upgrade_failed', 'upgrade_not_undone', 'upgrade_not_undone', 'ended with 1'])
})

test('a signal while the new one ends also ends the way back', async () => {
  // It is never ready, so that it is told to end. It ends at the second signal, which the parent passes on.
  const next = `told=0; trap 'told=$((told + 1)); touch told$told; [ $told = 1 ] || exit 3' TERM; while :; do sleep 0.05; done`
  const lines = await start({ next, former: RUNS }, { readySeconds: 0.2 })
  await until('the new one is told to end', () => exists('told1'))
  parent?.kill('SIGTERM')
  await until('it ends', async () => lines.some((line) => line.startsWith('ended')))
  expect(lines).toEqual(['upgrade_failed', 'ended with 3'])
  expect(await exists('former-runs')).toBe(false)
})
