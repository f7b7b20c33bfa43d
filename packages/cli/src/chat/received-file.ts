// Puts a downloaded file into a folder, under a harmless name, and never over another file.
import { constants, copyFile, link, mkdtemp, rm } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { sanitizeLine } from '../sanitize.ts'

const MAX_NAME_BYTES = 150
const MAX_TRIES = 1000
// biome-ignore lint/suspicious/noControlCharactersInRegex: these have a meaning in some file system
const UNSAFE = /[\u0000-\u001f\u007f/\\:*?"<>|\ufffd]/g
/** Names of devices on Windows, with any ending. */
const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/** A name of one file, made from a name that somebody sent. It leads nowhere else, and hides nothing. */
export function harmlessName(sent: string): string {
  const line = sanitizeLine(sent, 1000).replace(UNSAFE, '_')
  // A leading dot hides the file; one at the end, or a space, is dropped by Windows.
  const name = line.replace(/^[\s.]+|[\s.]+$/g, '')
  const ending = extname(name).slice(0, 20)
  let stem = name.slice(0, name.length - extname(name).length)
  while (Buffer.byteLength(stem + ending) > MAX_NAME_BYTES) stem = Array.from(stem).slice(0, -1).join('')
  const harmless = `${stem}${ending}`
  if (harmless === '') return 'file'
  return DEVICES.test(harmless) ? `_${harmless}` : harmless
}

/**
 * Lets `download` write a file, and then gives it the name in the folder, or this name with a number.
 * @returns the path
 */
export async function saveAs(
  folder: string,
  name: string,
  download: (path: string) => Promise<void>,
): Promise<string> {
  // In a folder of its own, no other program can have a file of this name.
  const own = await mkdtemp(join(folder, '.sotto-'))
  try {
    const path = join(own, 'download')
    await download(path)
    return await giveName(path, folder, name)
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

async function giveName(path: string, folder: string, name: string): Promise<string> {
  const ending = extname(name)
  const stem = name.slice(0, name.length - ending.length)
  for (let at = 1; at <= MAX_TRIES; at += 1) {
    const target = join(folder, at === 1 ? name : `${stem} (${at})${ending}`)
    if (await takes(path, target)) return target
  }
  throw new Error(`${folder} has too many files named ${name}`)
}

/** Gives a file another name. Returns false if that name exists. */
async function takes(path: string, target: string): Promise<boolean> {
  try {
    await link(path, target)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error))) throw error
  }
  // A file system without links.
  try {
    await copyFile(path, target, constants.COPYFILE_EXCL)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
