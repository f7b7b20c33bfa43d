// sotto serve: runs a relay in this process until a signal stops it.
import { type Command, CommandError, type Flags, textFlag, UsageError } from './command.ts'
import { adminFolder, appFolder, ownCommand, programCall, programFile } from './program.ts'
import { runSuccessors } from './upgrade/successor.ts'

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

It serves the web app at the same address. (In a clone, if it has been built: npm start does.)

Every other setting is an environment variable. A flag overrides its variable (PORT, HOST,
DATA_DIR). With DOMAIN=relay.example it listens on port 443, with a certificate that it gets and
renews by itself.`,
  options: { port: { type: 'string' }, host: { type: 'string' }, 'data-dir': { type: 'string' } },
  async run(flags) {
    // With the app, the relay is all that its users need.
    const folders = { APP_DIR: appFolder(), ADMIN_DIR: adminFolder() }
    const environment = { ...folders, ...process.env, ...settingsOf(flags) }
    // Imported late, so that chats do not load the relay.
    const { askRunning, serve, StartError } = await import('@sotto/relay')
    try {
      const print = (line: string): void => void process.stdout.write(`${line}\n`)
      const handedOver = await serve(environment, print, programCall, {
        canHandOver: programFile !== undefined,
        workerCommand: [...ownCommand, 'serve'],
      })
      if (!handedOver || programFile === undefined) return 0
      // A relay that is just starting or stopping may not answer.
      const isReady = async (pid: number): Promise<boolean> => {
        const running = await askRunning(environment).catch(() => undefined)
        return running?.pid === pid && running.ready
      }
      const args = process.argv.slice(2)
      return await runSuccessors({
        ...{ file: programFile, args, environment: process.env, handedOver, isReady },
      })
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

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
}
