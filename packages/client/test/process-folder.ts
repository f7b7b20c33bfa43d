// Folders that the tests of one process share. Each folder is removed when the process has ended.
import { spawn } from 'node:child_process'
import { mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Makes a folder that is removed when this process has ended. If a Chromium has its `profile` in the folder,
 * the folder is removed after that Chromium has ended too.
 */
export async function makeProcessFolder(name: string): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), `sotto-${name}-`)))
  removeAfterThisProcess(folder)
  return folder
}

// Bun sends no event when its tests have ended. When this process ends, the standard input of this shell
// closes and the shell continues. The Chromium ends a moment after this process. The lock file of the
// Chromium's profile contains its process id, so the shell can wait for it. The shell ignores SIGTERM,
// because Bun sends SIGTERM to the child processes of a test that takes too long.
const keeperScript = `
trap '' HUP INT TERM
read -r line
browser=$(readlink "$1/profile/SingletonLock")
browser=\${browser##*-}
while [ -n "$browser" ] && kill -0 "$browser" 2>/dev/null; do sleep 0.2; done
rm -rf "$1"
`

function removeAfterThisProcess(folder: string): void {
  const shell = spawn('sh', ['-c', keeperScript, 'keeper', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  shell.unref()
  const { stdin } = shell
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref()
}
