// Runs the command line under Bun as if the user had called it directly: with the same terminal, the same
// signals and the same exit status.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { ensureInstalledOrExit } from './bootstrap.mjs'
import { bunPath, root } from './installation.mjs'

const terminalSignals = ['SIGINT', 'SIGHUP', 'SIGQUIT']
const signals = [...terminalSignals, 'SIGTERM']

// One signal can arrive twice: from its sender and through npm.
const sameRequestMs = 500

export async function runSotto(args, cwd = process.cwd()) {
  await ensureInstalledOrExit()
  // Outside a terminal's foreground Bun gets a separate process group, so that a signal to the group of this
  // process reaches Bun only once, forwarded by this process. In the foreground Bun must be in the same group
  // as this process, to read the keyboard and to receive Ctrl-C.
  const isApart = !isInForeground()
  // --no-orphans: if this process is killed with SIGKILL, Bun ends too. --no-install: a missing package is an
  // error, and Bun does not download it. The other options: files in the user's folder neither preload code
  // nor change settings.
  const child = spawn(
    bunPath,
    [
      '--no-orphans',
      '--no-install',
      '--no-env-file',
      `--config=${join(root, 'scripts/bunfig.toml')}`,
      join(root, 'packages/cli/src/main.ts'),
      ...args,
    ],
    { cwd, stdio: 'inherit', detached: isApart },
  )
  const lastMs = new Map()
  const forward = (signal) => {
    if (!isApart && terminalSignals.includes(signal) && isInForeground()) return
    const nowMs = performance.now()
    const isRepeat = nowMs - (lastMs.get(signal) ?? Number.NEGATIVE_INFINITY) < sameRequestMs
    lastMs.set(signal, nowMs)
    if (!isRepeat) child.kill(signal)
  }
  for (const signal of signals) process.on(signal, forward)
  whenNpmEnds(() => child.kill('SIGTERM'))

  child.on('error', (error) => {
    process.stderr.write(`Bun could not be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    for (const name of signals) process.off(name, forward)
    process.exitCode = 1
    process.kill(process.pid, signal)
  })
}

// A terminal sends the signals for Ctrl-C and for a closed window to every process of its foreground group.
function isInForeground() {
  try {
    // proc(5): after the name in parentheses come state, parent, group, session, terminal and its foreground
    // group.
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [, , group, , terminal, foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return terminal !== '0' && group === foreground
  } catch {
    return isatty(0)
  }
}

// npm, or the shell in which it runs this process, can end without forwarding a signal. The relay must not
// keep running unnoticed and occupy its port. Node has no event for the end of a parent, so this checks twice
// a second.
function whenNpmEnds(stop) {
  if (!['start', 'npx'].includes(process.env.npm_lifecycle_event)) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, 500)
  timer.unref()
}
