// The folder of a chat's identity and history: one per relay, readable only by its owner.
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ClientError } from '@sotto/client'
import { FileStore } from '@sotto/client/file-store'
import { CommandError } from '../command.ts'

/** The folder of one relay: in `--home`, SOTTO_HOME or `~/.sotto`, in this order. */
export function folderOf(home: string | undefined, relayUrl: URL): string {
  const base = home ?? (process.env.SOTTO_HOME || join(homedir(), '.sotto'))
  return join(base, relayUrl.host.replace(/[^a-z0-9.-]/g, '_'))
}

/** An opened home. */
export interface Home {
  readonly folder: string
  readonly store: FileStore
  /** Copies of a damaged store, made by this start or earlier ones. */
  readonly damaged: readonly string[]
  /** Whether this start found damage. */
  readonly isNewlyDamaged: boolean
}

/** Opens the store of a folder. @throws CommandError if another chat uses it, or it cannot be opened */
export async function openHome(folder: string): Promise<Home> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await chmod(folder, 0o700)
    const before = await damagedIn(folder)
    const store = await FileStore.open(folder)
    const damaged = await damagedIn(folder)
    return { folder, store, damaged, isNewlyDamaged: damaged.length > before.length }
  } catch (error) {
    if (error instanceof ClientError && error.code === 'STORE_LOCKED') {
      throw new CommandError(`another "sotto chat" is using ${folder}; choose another folder with --home`)
    }
    throw new CommandError(`${folder} cannot be used: ${error instanceof Error ? error.message : error}`)
  }
}

/** The copies of damaged stores that `FileStore` has left in a folder. */
async function damagedIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder)
  return names.filter((name) => name.startsWith('store.log.damaged-')).map((name) => join(folder, name))
}

/** The words in a phrase file, or undefined if the file does not exist. */
export async function readPhrase(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new CommandError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`)
  }
}

/** Writes the words to a new file that only its owner may read. */
export async function writePhrase(path: string, mnemonic: string): Promise<void> {
  try {
    await writeFile(path, `${mnemonic}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${error instanceof Error ? error.message : error}`)
  }
}
