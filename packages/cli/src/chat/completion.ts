// Completion of typed text: the common beginning of choices, and choices of names and files.
import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { graphemes, sanitizeLine } from '../sanitize.ts'

/** The beginning that all texts have in common. */
export function commonBeginning(texts: readonly string[]): string {
  const [first = '', ...others] = texts
  const characters = graphemes(first)
  let length = characters.length
  while (length > 0) {
    const beginning = characters.slice(0, length).join('')
    if (others.every((text) => text.startsWith(beginning))) return beginning
    length -= 1
  }
  return ''
}

/** The names that begin with a text, in any case of letters. */
export function namesFrom(names: readonly string[], text: string): readonly string[] {
  const wanted = text.toLowerCase()
  return [...new Set(names)].filter((name) => name.toLowerCase().startsWith(wanted))
}

/** A path as the user typed it, with `~` for the home folder. */
export function pathOf(typed: string): string {
  return typed === '~' || typed.startsWith('~/') ? join(homedir(), typed.slice(1)) : typed
}

/** The files and folders that a typed path may mean, without names that cannot be printed as they are. */
export async function filesFrom(typed: string): Promise<readonly string[]> {
  const folder = typed.slice(0, typed.lastIndexOf('/') + 1)
  const beginning = typed.slice(folder.length)
  try {
    const entries = await readdir(folder === '' ? '.' : pathOf(folder), {
      withFileTypes: true,
    })
    return entries
      .filter((entry) => entry.name.startsWith(beginning) && sanitizeLine(entry.name, 300) === entry.name)
      .filter((entry) => !entry.name.startsWith('.') || beginning.startsWith('.'))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .sort()
  } catch {
    // Without the folder there is nothing to complete.
    return []
  }
}
