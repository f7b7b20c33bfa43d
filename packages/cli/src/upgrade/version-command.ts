// sotto version: the version, and for programs the system and the schema of the store.
import manifest from '../../package.json' with { type: 'json' }
import type { Command } from '../command.ts'
import { releaseInside } from '../program.ts'

export const versionCommand: Command = {
  name: 'version',
  summary: 'print the version',
  help: `Usage: sotto version [--json]

  --json  print the version, the system that this program is for (null in a clone), the schema that
          it gives to the store, and the oldest schema whose relays can use that store, as JSON`,
  options: { json: { type: 'boolean' } },
  async run(flags) {
    process.stdout.write(`${flags.json ? JSON.stringify(await describe()) : manifest.version}\n`)
    return 0
  },
}

async function describe() {
  const { oldestSchema, schema } = await import('@sotto/relay')
  return {
    version: manifest.version,
    target: releaseInside()?.target ?? null,
    schema,
    oldest_schema: oldestSchema,
  }
}
