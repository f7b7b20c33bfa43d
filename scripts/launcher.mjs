// Runs the command line under Bun as if it had been called directly: same terminal, same signals, same ending.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { bunPath, ensureInstalledOrExit, root } from './bootstrap.mjs'

const terminalSignals = ['SIGINT', 'SIGHUP', 'SIGQUIT']
const signals = [...terminalSignals, 'SIGTERM']

// One request to stop can reach us twice, from its sender and through npm.
const sameRequestMs = 500

export async function runSotto(args, cwd = process.cwd()) {
  await ensureInstalledOrExit()
  // Away from a terminal Bun gets a process group of its own: a signal sent to our whole group then reaches it once,
  // through us. In a terminal's foreground it must share ours, to read the keyboard and to hear Ctrl-C.
  const isApart = !isInForeground()
  // --no-orphans: should this process be killed outright, Bun goes with it. --no-install: a missing package is an
  // error, never fetched while running. The rest: files of the user's folder neither preload code nor set anything.
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
  whenNpmIsGone(() => child.kill('SIGTERM'))

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

// A terminal sends Ctrl-C, and that its window was closed, to every process of its foreground group.
function isInForeground() {
  try {
    // proc(5): after the name in parentheses come state, parent, group, session, terminal and its foreground group.
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [, , group, , terminal, foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return terminal !== '0' && group === foreground
  } catch {
    return isatty(0)
  }
}

// npm, or the shell it runs us in, can end without passing a signal on. The relay must not stay behind unseen, holding
// its port: Node cannot ask to be told, so look now and then.
function whenNpmIsGone(stop) {
  if (!['start', 'npx'].includes(process.env.npm_lifecycle_event)) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, 500)
  timer.unref()
}
