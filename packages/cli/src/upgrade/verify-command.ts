// sotto verify: whether a file was signed by who signed this one.
import { readFile } from 'node:fs/promises'
import { type Command, CommandError, type Flags, textFlag } from '../command.ts'
import { releaseInside } from '../program.ts'
import { checkSignedFile } from './release.ts'

export const verifyCommand: Command = {
  name: 'verify',
  summary: 'check who built a file of Sotto, without running it',
  help: `Usage: sotto verify FILE [--public-key KEY]

Checks a file that was built: SHA256SUMS beside it contains its hash, and SHA256SUMS.sig is the
signature of that list. FILE is a program or a package, or a folder with the program for this
machine. Nothing of it is run.

  --public-key KEY  the file with the public key (PEM) of who signed. The default is the key that
                    this program was built with`,
  options: { 'public-key': { type: 'string' } },
  words: ['FILE'],
  async run(flags, [path = '']) {
    const { name, sha256 } = await checkSignedFile(path, await signerOf(flags))
    process.stdout.write(`${path} is ${name}, signed. SHA-256 ${sha256}\n`)
    return 0
  },
}

/**
 * The key of who signs, and the system that this program is for.
 * @throws CommandError if neither the flag nor this program has a key
 */
export async function signerOf(flags: Flags): Promise<{ target: string; publicKey: string }> {
  const inside = releaseInside()
  const file = textFlag(flags, 'public-key')
  const publicKey = file === undefined ? inside?.publicKey : await textOf(file)
  if (publicKey === undefined)
    throw new CommandError('this program was built without a public key; name one by --public-key')
  return { target: inside?.target ?? `${process.platform}-${process.arch}`, publicKey }
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch {
    throw new CommandError(`${file} cannot be read`)
  }
}
