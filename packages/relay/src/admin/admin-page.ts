// The admin page: a port of loopback that the operator opens with `sotto admin`. It serves the built page,
// and carries out the operator's commands for those who have a session.
import { ProtocolError } from '@sotto/protocol'
import { readJsonBody } from '../listener/body.ts'
import { type OpenPort, openPort } from '../listener/open-port.ts'
import { type OperatorCommand, OperatorRefusal } from '../listener/operator-command.ts'
import { readWebApp, type WebApp } from '../listener/web-app.ts'
import type { Clock } from '../operations/clock.ts'
import type { Log } from '../operations/log.ts'
import type { RandomBytes } from '../operations/random.ts'
import { SettingError } from '../operations/setting-error.ts'
import { AdminSessions } from './admin-sessions.ts'

const MOST_BODY_BYTES = 64 * 1024
const IDLE_SECONDS = 60
/** Names of this machine alone. No other name can be made to lead here and be taken (DNS rebinding). */
const HOSTNAMES = ['127.0.0.1', 'localhost']

/** The commands by name. */
export type AdminCommands = Readonly<Record<string, OperatorCommand>>

interface Parts {
  /** The folder of the built page; undefined if the relay has none. */
  readonly folder: string | undefined
  readonly clock: Clock
  readonly randomBytes: RandomBytes
  readonly log: Log
}

interface Opened {
  readonly port: OpenPort
  readonly page: WebApp
  readonly commands: AdminCommands
}

export class AdminPage {
  readonly #parts: Parts
  readonly #sessions: AdminSessions
  #opened: Opened | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#sessions = new AdminSessions(parts)
  }

  /**
   * Opens the page if it is not open, and makes a link to it that is good once.
   * @param port where to open it; 0 for any
   * @param commands what the page may ask for
   * @throws OperatorRefusal if the relay has no page, or the port cannot be had
   */
  open({ port, who, commands }: { port: number; who: string; commands: AdminCommands }): string {
    if (this.#opened && port !== 0 && port !== this.#opened.port.port)
      throw new OperatorRefusal(
        `the page is open at port ${this.#opened.port.port}; sotto admin --close closes it`,
      )
    this.#opened ??= this.#openAt(port, commands)
    this.#parts.log.info('admin_link_made', { reason: who })
    return `http://127.0.0.1:${this.#opened.port.port}/#/open/${this.#sessions.makeLink(who)}`
  }

  /** Ends all sessions, makes all links useless, and closes the port. @returns whether it was open */
  async close(): Promise<boolean> {
    const opened = this.#opened
    this.#opened = undefined
    this.#sessions.endAll()
    if (opened === undefined) return false
    await opened.port.stop()
    this.#parts.log.info('admin_closed')
    return true
  }

  /** Closes the port if nobody can use the page any more. */
  async closeUnneeded(): Promise<void> {
    if (!this.#sessions.isNeeded) await this.close()
  }

  #openAt(port: number, commands: AdminCommands): Opened {
    const { folder } = this.#parts
    if (folder === undefined)
      throw new OperatorRefusal('the relay has no admin page: its setting ADMIN_DIR is off')
    try {
      const page = readWebApp(folder, [], 'ADMIN_DIR')
      const opened = openPort('--port', 'a port of 127.0.0.1 on which nothing else listens', {
        hostname: '127.0.0.1',
        port,
        idleTimeout: IDLE_SECONDS,
        maxRequestBodySize: MOST_BODY_BYTES,
        fetch: async (request) => secured(await this.#answer(request)),
      })
      return { port: opened, page, commands }
    } catch (error) {
      throw error instanceof SettingError ? new OperatorRefusal(error.message) : error
    }
  }

  async #answer(request: Request): Promise<Response> {
    const opened = this.#opened
    if (!opened) return refuse(503, 'the page is closed')
    const host = request.headers.get('host') ?? ''
    if (!HOSTNAMES.some((name) => host === `${name}:${opened.port.port}`))
      return this.#refused(421, 'host', 'the page has another address: sotto admin prints it')
    const { pathname } = new URL(request.url)
    if (request.method === 'GET' || request.method === 'HEAD') return fileAt(pathname, request, opened.page)
    if (request.method !== 'POST') return refuse(405, 'only GET and POST')
    // Another page in the same browser can send requests here, but not with this origin.
    if (request.headers.get('origin') !== `http://${host}`)
      return this.#refused(403, 'origin', 'only the page itself may send this')
    try {
      const body = await readJsonBody(request, MOST_BODY_BYTES)
      return await this.#carryOut(pathname, request, body, opened)
    } catch (error) {
      if (error instanceof ProtocolError) return refuse(error.status, error.code)
      if (error instanceof OperatorRefusal) return refuse(422, error.message)
      this.#parts.log.error('operator_command_failed', { endpoint: pathname, error })
      return refuse(500, 'the relay failed to carry out the command; its log says why')
    }
  }

  async #carryOut(pathname: string, request: Request, body: object, { commands }: Opened): Promise<Response> {
    if (pathname === '/session') {
      const session = this.#sessions.begin(String(Reflect.get(body, 'secret')))
      if (session === undefined) return this.#refused(401, 'link', 'the link is used, ended or wrong')
      this.#parts.log.info('admin_session_begun', { reason: this.#sessions.whoHas(session) ?? '' })
      return Response.json({ session })
    }
    // Not a cookie: browsers send those to every port of a machine's name.
    const secret = /^Bearer ([\w-]+)$/.exec(request.headers.get('authorization') ?? '')?.[1] ?? ''
    const who = this.#sessions.whoHas(secret)
    if (who === undefined) return this.#refused(401, 'session', 'no session: sotto admin prints a new link')
    if (pathname === '/session/end') {
      this.#sessions.end(secret)
      return Response.json({})
    }
    const name = /^\/commands\/([a-z.-]+)$/.exec(pathname)?.[1] ?? ''
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (!command) return refuse(404, 'there is no such command')
    // The session says who it is, so that the record of a deed names who has done it.
    return Response.json({ answer: (await command({ ...body, who })) ?? null })
  }

  #refused(status: number, reason: string, error: string): Response {
    this.#parts.log.warn('admin_refused', { reason })
    return refuse(status, error)
  }
}

function fileAt(pathname: string, request: Request, { home, fileAt }: WebApp): Response {
  if (pathname === '/') return home(request)
  return fileAt(pathname, request) ?? refuse(404, 'nothing is here')
}

function refuse(status: number, error: string): Response {
  return Response.json({ error }, { status })
}

// `no-store` for all: the files come from this machine, and another version may be at the same port later.
function secured(answer: Response): Response {
  answer.headers.set('cache-control', 'no-store')
  answer.headers.set('x-content-type-options', 'nosniff')
  answer.headers.set('referrer-policy', 'no-referrer')
  return answer
}
