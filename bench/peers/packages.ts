// Debian's packages of the peers: which are missing, and installing them when whoever runs this says so.
import { existsSync } from 'node:fs'
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { createInterface } from 'node:readline/promises'

const POLICY = '/usr/sbin/policy-rc.d'
const UNITS = '/etc/systemd/system'

/** Which of these packages are not installed. */
async function missingOf(packages: readonly string[]): Promise<string[]> {
  const missing: string[] = []
  for (const name of new Set(packages)) {
    const asked = await Bun.$`dpkg-query -W -f ${'${db:Status-Status}'} ${name}`.quiet().nothrow()
    if (asked.stdout.toString() !== 'installed') missing.push(name)
  }
  return missing
}

/** Installs what is missing if it may. @returns what is still missing */
export async function offerPackages(
  packages: readonly string[],
  isToldToInstall: boolean,
): Promise<string[]> {
  const missing = await missingOf(packages)
  if (missing.length === 0) return []
  console.log(`Not installed: ${missing.join(' ')}`)
  if (process.getuid?.() !== 0 || !Bun.which('apt-get')) {
    console.log('Installing needs root and apt-get; what needs them is left out.')
    return missing
  }
  if (!isToldToInstall && !(await saysYes())) {
    console.log('What needs them is left out; --install installs them.')
    return missing
  }
  await withoutServices(() => install(missing))
  return await missingOf(packages)
}

async function saysYes(): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question('Install them with apt-get? [y/N] ')
  terminal.close()
  return /^y(es)?$/i.test(answer.trim())
}

async function install(packages: readonly string[]): Promise<void> {
  const enabledBefore = enabledUnits()
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const command of [
    ['apt-get', 'update'],
    ['apt-get', 'install', '-y', '--no-install-recommends', ...packages],
  ]) {
    const { exitCode, stderr } = Bun.spawnSync(command, {
      env,
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'pipe',
    })
    if (exitCode !== 0) console.log(`${command.join(' ')}: ${stderr.toString().trim()}`)
  }
  // Nobody asked for services: not now, and not after the next boot.
  for (const unit of enabledUnits()) {
    if (!enabledBefore.has(unit)) await Bun.$`systemctl disable ${unit}`.quiet().nothrow()
  }
}

function enabledUnits(): Set<string> {
  if (!existsSync(UNITS)) return new Set()
  const links = new Bun.Glob('*.wants/*').scanSync({ cwd: UNITS, onlyFiles: false })
  return new Set([...links].map((link) => basename(link)))
}

/** Runs `work` while no package may start its service, and leaves the policy as it was. */
async function withoutServices(work: () => Promise<void>): Promise<void> {
  const before = existsSync(POLICY)
    ? { text: await readFile(POLICY), mode: (await stat(POLICY)).mode }
    : undefined
  await writeFile(POLICY, '#!/bin/sh\nexit 101\n')
  await chmod(POLICY, 0o755)
  try {
    await work()
  } finally {
    if (before) {
      await writeFile(POLICY, before.text)
      await chmod(POLICY, before.mode)
    } else await rm(POLICY)
  }
}
