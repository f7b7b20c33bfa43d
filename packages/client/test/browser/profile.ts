// The profile of a Chromium with a folder of its own: killing that browser, and reading what it stored.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../people.ts'

/** Kills the browser with this profile, as suddenly as a power cut. */
export async function killBrowser(profile: string): Promise<void> {
  const all = await processesOf(profile)
  // The main process has no `--type=` on its command line. Helper processes have one, and end with it.
  const browser = all.find(({ command }) => !command.includes('--type='))
  if (!browser) throw new Error('no browser with this profile')
  process.kill(browser.pid, 'SIGKILL')
  // A helper that still runs may have files open that the next browser needs.
  await until('its helpers have ended', async () => (await processesOf(profile)).length === 0)
}

/** The processes with this profile on their command lines. The command line of an ended process is empty. */
async function processesOf(profile: string): Promise<{ pid: number; command: string }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const all = pids.map(async (pid) => ({
    pid: Number(pid),
    command: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
  }))
  return (await Promise.all(all)).filter(({ command }) => command.includes(profile))
}

/** The bytes of all files in a folder and its subfolders. */
export async function bytesOf(folder: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return Buffer.concat(await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name)))))
}
