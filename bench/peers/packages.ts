// Finds out which Debian packages of the peers are missing, and installs them if the user agrees.
import { existsSync } from 'node:fs'
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { createInterface } from 'node:readline/promises'

const POLICY = '/usr/sbin/policy-rc.d'
const UNITS = '/etc/systemd/system'

/** The packages that are not installed. */
async function missingOf(packages: readonly string[]): Promise<string[]> {
  const missing: string[] = []
  for (const name of new Set(packages)) {
    const asked = await Bun.$`dpkg-query -W -f ${'${db:Status-Status}'} ${name}`.quiet().nothrow()
    if (asked.stdout.toString() !== 'installed') missing.push(name)
  }
  return missing
}

/** Installs the missing packages if the user agrees. @returns the packages that are still missing */
export async function offerPackages(
  packages: readonly string[],
  isToldToInstall: boolean,
): Promise<string[]> {
  const missing = await missingOf(packages)
  if (missing.length === 0) return []
  console.log(`Not installed: ${missing.join(' ')}`)
  if (process.getuid?.() !== 0 || !Bun.which('apt-get')) {
    console.log('Installing them needs root and apt-get. The servers that need them are left out.')
    return missing
  }
  if (!isToldToInstall && !(await askToInstall())) {
    console.log('The servers that need them are left out. --install installs them.')
    return missing
  }
  await withoutServices(() => install(missing))
  return await missingOf(packages)
}

async function askToInstall(): Promise<boolean> {
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
  // The packages enable services. Nobody asked for these, so they must not start at the next boot.
  for (const unit of enabledUnits()) {
    if (!enabledBefore.has(unit)) await Bun.$`systemctl disable ${unit}`.quiet().nothrow()
  }
}

function enabledUnits(): Set<string> {
  if (!existsSync(UNITS)) return new Set()
  const links = new Bun.Glob('*.wants/*').scanSync({ cwd: UNITS, onlyFiles: false })
  return new Set([...links].map((link) => basename(link)))
}

/** Runs `work` while a policy forbids packages to start their services. Restores the previous policy. */
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
