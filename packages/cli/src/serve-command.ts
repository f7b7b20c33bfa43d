// sotto serve: runs a relay in this process until a signal stops it.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Command, CommandError, type Flags, textFlag, UsageError } from './command.ts'

/** Flags and the relay's settings that they override. */
const SETTINGS = { port: 'PORT', host: 'HOST', 'data-dir': 'DATA_DIR' } as const

export const serveCommand: Command = {
  name: 'serve',
  summary: 'run a relay on this machine',
  help: `Usage: sotto serve [--port N] [--host H] [--data-dir D]

Runs a relay until Ctrl-C. It keeps its data in one folder and needs nothing else.

  --port N        the port to listen on (default 8080)
  --host H        the address to listen on (default 127.0.0.1). Beyond this machine, PUBLIC_URL
                  must name the address that clients use
  --data-dir D    where to keep the relay's data

It serves the web app at the same address, if the app has been built (npm start builds it).

Every other setting is an environment variable. A flag overrides its variable (PORT, HOST,
DATA_DIR).`,
  options: { port: { type: 'string' }, host: { type: 'string' }, 'data-dir': { type: 'string' } },
  async run(flags) {
    const environment = { ...ownApp(), ...process.env, ...settingsOf(flags) }
    // Imported late, so that chats do not load the relay.
    const { serve, StartError } = await import('@sotto/relay')
    try {
      await serve(environment, (line) => process.stdout.write(`${line}\n`))
      return 0
    } catch (error) {
      throw error instanceof StartError ? new CommandError(error.message) : error
    }
  },
}

function settingsOf(flags: Flags): Record<string, string> {
  const settings: Record<string, string> = {}
  for (const [flag, setting] of Object.entries(SETTINGS)) {
    const value = textFlag(flags, flag)
    if (value === undefined) continue
    if (flag === 'port' && !isPort(value))
      throw new UsageError(`--port takes a number from 0 to 65535, not "${value}"`)
    settings[setting] = value
  }
  return settings
}

/** The app that is built beside this program; with it, the relay is all that its users need. */
function ownApp(): Record<string, string> {
  const folder = fileURLToPath(new URL('../../web/dist', import.meta.url))
  return existsSync(folder) ? { APP_DIR: folder } : {}
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
}
