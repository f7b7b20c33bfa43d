// sotto licences: the licences of what the one file has inside.
import { type Command, CommandError } from './command.ts'
import { licencesInside } from './program.ts'

export const licencesCommand: Command = {
  name: 'licences',
  summary: 'print the licences of everything inside this program',
  help: `Usage: sotto licences

Prints each package that is in this file, with its version and the text of its licence: Sotto
itself, Bun, which runs it, and the libraries of the relay and of the web app.`,
  options: {},
  async run() {
    const inside = licencesInside()
    if (!inside)
      throw new CommandError('a clone has the licence of each package in its folder in node_modules')
    const list = inside.map(({ name, version, licence }) => `${name} ${version}: ${licence}`)
    const texts = inside.map(({ name, version, text }) => `---- ${name} ${version}\n\n${text}`)
    process.stdout.write(`${list.join('\n')}\n\n${texts.join('\n\n')}\n`)
    return 0
  },
}
