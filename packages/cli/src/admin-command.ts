// sotto admin: opens the admin page of the relay on this machine, and prints a link to it.
import { type Command, textFlag, UsageError } from './command.ts'
import { currentUser } from './operator-name.ts'
import { jsonOf } from './orders-command-text.ts'
import { atRelay, environmentOf } from './relay-environment.ts'

export const adminCommand: Command = {
  name: 'admin',
  summary: 'open the admin page: figures, payments, settings, log',
  help: `Usage: sotto admin [--port N] [--json] [--data-dir D]
       sotto admin --close [--json] [--data-dir D]

Opens the admin page of the relay on this machine, and prints a link to it. The link works once,
within five minutes; then the browser may use the page for eight hours. The page is at a port of
127.0.0.1, so only this machine reaches it. From another one, forward the port:

  ssh -t -L 9800:127.0.0.1:9800 relay.example 'sotto admin --port 9800; sleep 8h'

  --port N        the port (default: any that is free)
  --close         end all sessions, and close the port. This happens too when the last session
                  has ended, and when the relay stops
  --json          print JSON
  --data-dir D    the relay's data folder (default: DATA_DIR, otherwise ./data)`,
  options: {
    port: { type: 'string' },
    close: { type: 'boolean' },
    json: { type: 'boolean' },
    'data-dir': { type: 'string' },
  },
  run: async (flags) => {
    const environment = environmentOf(flags)
    const print = (text: string): void => void process.stdout.write(`${text}\n`)
    if (flags.close) {
      const answer = await atRelay((relay) => relay.tellRelay(environment, 'admin.close', {}))
      print(flags.json ? jsonOf(answer) : answer.was_open ? 'The admin page is closed.' : 'It was not open.')
      return 0
    }
    const input = { port: portOf(textFlag(flags, 'port')), who: currentUser() }
    const answer = await atRelay((relay) => relay.tellRelay(environment, 'admin.open', input))
    print(
      flags.json
        ? jsonOf(answer)
        : `Open this in a browser on this machine within ${answer.link_seconds / 60} minutes. It works once.\n\n  ${answer.url}\n`,
    )
    return 0
  },
}

function portOf(text: string | undefined): number {
  if (text === undefined) return 0
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw new UsageError(`--port takes a number from 1 to 65535, not "${text}"`)
  return port
}
