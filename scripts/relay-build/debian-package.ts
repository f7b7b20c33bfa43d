// Packs the one file for Debian and its relatives: program, unit, user, and a file for the settings.
import { chmod, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ROOT } from '../client-package/entries.ts'
import { run, type Target } from './targets.ts'

/** Debian's names of processors. */
const PROCESSORS: Readonly<Record<string, string>> = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' }

/** All times in the package, in seconds since 1970: the same, so that the same files give the same bits. */
const TIME = '1767225600'

/** True if Debian runs files of this target; those with musl are for others. */
export function isForDebian({ name }: Target): boolean {
  return PROCESSORS[name] !== undefined
}

/**
 * Makes the package. Needs Debian's `dpkg-deb`.
 * @param folder has the file of the target, and gets the package
 * @returns the package's name
 */
export async function packForDebian(target: Target, folder: string): Promise<string> {
  const { version } = await Bun.file(join(ROOT, 'package.json')).json()
  const name = `sotto_${version}_${PROCESSORS[target.name]}.deb`
  const root = await mkdtemp(join(folder, '.packing-'))
  try {
    const data = join(root, 'var/lib/sotto')
    await mkdir(data, { recursive: true })
    const put = async (from: string, to: string, mode = 0o644): Promise<void> => {
      await mkdir(dirname(join(root, to)), { recursive: true })
      await copyFile(from, join(root, to))
      await chmod(join(root, to), mode)
    }
    const deploy = join(ROOT, 'deploy')
    await put(join(folder, `sotto-${target.name}`), 'usr/bin/sotto', 0o755)
    for (const unit of ['sotto.service', 'sotto-backup.service', 'sotto-backup.timer'])
      await put(join(deploy, 'systemd', unit), `usr/lib/systemd/system/${unit}`)
    await put(join(deploy, 'debian/sysusers.conf'), 'usr/lib/sysusers.d/sotto.conf')
    await put(join(deploy, 'debian/sotto.env'), 'etc/sotto/sotto.env', 0o600)
    await put(join(folder, `sotto-${target.name}.cdx.json`), 'usr/share/doc/sotto/sotto.cdx.json')
    await put(join(ROOT, 'LICENSE'), 'usr/share/doc/sotto/copyright')
    for (const script of ['postinst', 'prerm', 'postrm'])
      await put(join(deploy, 'debian', script), `DEBIAN/${script}`, 0o755)
    await Bun.write(join(root, 'DEBIAN/conffiles'), '/etc/sotto/sotto.env\n')
    await Bun.write(join(root, 'DEBIAN/control'), control(version, PROCESSORS[target.name] ?? ''))
    // Whatever the umask of who builds is.
    await run(['find', root, '-type', 'd', '-exec', 'chmod', '755', '{}', '+'], folder)
    // systemd gives it to the user when the service starts.
    await chmod(data, 0o700)
    // Of Debian's compressions, this one takes a second and not a minute.
    const words = ['-Zzstd', '-z3', '--root-owner-group', '--build', root, join(folder, name)]
    await run(['env', `SOURCE_DATE_EPOCH=${TIME}`, 'dpkg-deb', ...words], folder)
    return name
  } finally {
    await rm(root, { recursive: true })
  }
}

function control(version: string, processor: string): string {
  return `Package: sotto
Version: ${version}
Architecture: ${processor}
Maintainer: The authors of Sotto
Section: net
Priority: optional
Depends: libc6, init-system-helpers, systemd | systemd-standalone-sysusers
Description: relay for end-to-end encrypted messages
 Sotto stores and forwards messages that it cannot read, and serves a web app
 for them. This package runs it as a service of systemd.
`
}
