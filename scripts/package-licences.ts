// The licences of the packages of others that something we build contains.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A package of which a part is in what we build. */
export interface Licence {
  readonly name: string
  readonly version: string
  /** As the package names it, such as `MIT`. */
  readonly licence: string
  /** The text of the licence. */
  readonly text: string
}

/** The folder of the package that a module belongs to; undefined for our own modules. */
export function packageFolder(moduleId: string): string | undefined {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(moduleId.replace(/^\0/, ''))?.[0]
}

/** Reads the licence of the package in a folder. @throws Error if the package has no text of its licence */
export async function licenceOf(folder: string): Promise<Licence> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const files = (await readdir(folder)).filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file)).sort()
  if (files.length === 0) throw new Error(`${name} has no text of its licence`)
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  return { name, version, licence: String(license), text: texts.map((text) => text.trim()).join('\n\n') }
}
