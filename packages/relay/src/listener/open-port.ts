// Opens a port beside the one of clients.
import { SettingError } from '../operations/setting-error.ts'

type Options = Parameters<typeof Bun.serve<undefined>>[0]

/** An open port. */
export interface OpenPort {
  readonly port: number
  stop(): Promise<void>
}

/**
 * Opens a port that no other program may share unless `options` say so, and that takes no bodies.
 * @param setting the setting that chose the port
 * @param rule what the setting must be, for the error
 * @throws SettingError if the port cannot be had
 */
export function openPort(setting: string, rule: string, options: Options): OpenPort {
  try {
    const server = Bun.serve({
      maxRequestBodySize: 1024,
      development: false,
      reusePort: false,
      error: () => new Response(null, { status: 500 }),
      ...options,
    } as Options)
    return { port: server.port ?? 0, stop: () => server.stop(true) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SettingError(setting, `${rule}: ${reason}`)
  }
}
