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
// Chromium's profile contains its process id, so the shell can wait for it: a minute at most, and not for
// what nobody has reaped. The shell ignores SIGTERM, because Bun sends SIGTERM to the child processes of a
// test that takes too long. Other processes of the Chromium end after it and write into the folder until
// then, so the folder is removed until it stays away.
const keeperScript = `
trap '' HUP INT TERM
read -r line
browser=$(readlink "$1/profile/SingletonLock")
browser=\${browser##*-}
triesLeft=300
while [ -n "$browser" ] && [ "$triesLeft" -gt 0 ]; do
  case $(ps -o stat= -p "$browser") in
    '' | Z*) break ;;
  esac
  triesLeft=$((triesLeft - 1))
  sleep 0.2
done
triesLeft=50
while [ -e "$1" ] && [ "$triesLeft" -gt 0 ]; do
  rm -rf "$1" 2>/dev/null
  triesLeft=$((triesLeft - 1))
  sleep 0.2
done
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
