// The operator's socket: a Unix socket in the data folder, which only the relay's user and root can open. It
// accepts only operator commands, and cannot be reached through the port that clients use.
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ProtocolError } from '@sotto/protocol'
import type { Server } from 'bun'
import * as v from 'valibot'
import type { Log } from '../operations/log.ts'
import { version } from '../version.ts'
import { readJsonBody } from './body.ts'
import { type OperatorCommand, OperatorRefusal } from './operator-command.ts'

const MOST_BODY_BYTES = 64 * 1024
/** How long a connection may be silent, as it is while a command runs. Longer than the client waits. */
const IDLE_SECONDS = 60
const ANSWER_WITHIN_MS = 30_000

/**
 * The path of the operator's socket for a data folder.
 * @param worker the number of a worker, which has a socket of its own
 */
export function operatorSocketOf(dataDir: string, worker?: number): string {
  return join(dataDir, worker === undefined ? 'operator.sock' : `worker-${worker}.sock`)
}

/**
 * Opens the socket. `POST /<command>` with a JSON object is answered with `{"version", "answer"}`. A command
 * that is refused (422), unknown (404), malformed (400, 413) or that fails (500) is answered with
 * `{"version", "error"}`.
 *
 * A socket that a killed relay left behind is replaced; a socket that accepts connections is not. A relay
 * that cannot create the socket logs a warning and works without it.
 */
export async function startOperatorSocket(parts: {
  path: string
  commands: Readonly<Record<string, OperatorCommand>>
  log: Log
}): Promise<{
  /** Accepts no more commands. Resolves once the running ones are answered. */
  stop(): Promise<void>
}> {
  try {
    const server = await listen(parts.path, parts)
    return { stop: () => server.stop(false) }
  } catch (error) {
    const code = codeOf(error)
    if (code === undefined) throw error
    const reason = reasons[code] ?? `${parts.path} cannot be created (${code})`
    parts.log.warn('operator_door_missing', { setting: 'DATA_DIR', reason })
    return { stop: async () => undefined }
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses operator.sock in that folder',
  ENAMETOOLONG: 'the path of that folder is too long for a socket in it',
}

interface SocketParts {
  readonly commands: Readonly<Record<string, OperatorCommand>>
  readonly log: Log
}

async function listen(path: string, parts: SocketParts) {
  // With PostgreSQL, nothing else may have created the folder.
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    return listenAt(path, parts)
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE' || !(await isDead(path))) throw error
    rmSync(path, { force: true })
    return listenAt(path, parts)
  }
}

function listenAt(path: string, { commands, log }: SocketParts) {
  const answers = Object.entries(commands).map(([name, command]) => {
    const answer = (request: Request, server: Server<undefined>): Promise<Response> => {
      server.timeout(request, IDLE_SECONDS)
      return answerTo(request, name, command, log)
    }
    return [`/${name}`, { POST: answer }] as const
  })
  // The socket is created with these permissions, so other users can never open it.
  const umask = process.umask(0o177)
  try {
    const server = Bun.serve({
      unix: path,
      maxRequestBodySize: MOST_BODY_BYTES,
      development: false,
      routes: Object.fromEntries(answers),
      fetch: () => respond(404, { error: 'there is no such command' }),
    })
    try {
      chmodSync(path, 0o600) // If the folder has a default ACL, the umask has no effect.
    } catch (error) {
      void server.stop(true)
      throw error
    }
    return server
  } finally {
    process.umask(umask)
  }
}

async function answerTo(
  request: Request,
  name: string,
  command: OperatorCommand,
  log: Log,
): Promise<Response> {
  try {
    const answer = await command(await readJsonBody(request, MOST_BODY_BYTES))
    return respond(200, { answer: answer ?? null })
  } catch (error) {
    if (error instanceof OperatorRefusal) return respond(422, { error: error.message })
    if (error instanceof ProtocolError && error.code === 'PAYLOAD_TOO_LARGE')
      return respond(413, { error: `a command has at most ${MOST_BODY_BYTES} bytes` })
    if (error instanceof ProtocolError && error.code === 'INVALID_JSON')
      return respond(400, { error: 'a command comes with a JSON object' })
    log.error('operator_command_failed', { endpoint: name, error })
    return respond(500, { error: 'the relay failed to carry out the command; its log says why' })
  }
}

function respond(status: number, body: { answer: unknown } | { error: string }): Response {
  return Response.json({ version, ...body }, { status, headers: { connection: 'close' } })
}

// Whether the socket was left behind by a killed process. If two relays find it at the same time, the second
// one that listens gets the socket. Any of the two may have it, because both work on the same store.
async function isDead(path: string): Promise<boolean> {
  if (!lstatSync(path).isSocket()) return false
  try {
    const socket = await Bun.connect({ unix: path, socket: { data: () => undefined } })
    socket.end()
    return false
  } catch (error) {
    return codeOf(error) === 'ECONNREFUSED'
  }
}

const Answer = v.union([
  v.object({ version: v.string(), answer: v.unknown() }),
  v.object({ version: v.string(), error: v.string() }),
])

/**
 * Sends a command to the relay that listens on a socket.
 * @returns its answer; undefined if no relay listens, so that no relay got the command
 * @throws OperatorRefusal if the relay refused or failed, or if this user may not connect to it
 */
export async function sendOperatorCommand(
  path: string,
  command: string,
  input: object,
): Promise<{ readonly answer: unknown } | undefined> {
  const response = await send(path, command, input)
  if (!response) return undefined
  const parsed = v.safeParse(Answer, await response.json().catch(() => undefined))
  if (parsed.success && 'answer' in parsed.output) return { answer: parsed.output.answer }
  if (parsed.success && response.status === 404) {
    throw new OperatorRefusal(
      `the running relay is version ${parsed.output.version} and does not know ${command}; this is ${version}`,
    )
  }
  throw new OperatorRefusal(parsed.success && 'error' in parsed.output ? parsed.output.error : NO_ANSWER)
}

const NO_ANSWER = 'the relay got the command and did not answer; check whether it was done'
/** The errors that mean that no relay listens on the socket. */
const ABSENT = ['ENOENT', 'ENOTDIR', 'ECONNREFUSED', 'ENAMETOOLONG']

async function send(path: string, command: string, input: object): Promise<Response | undefined> {
  try {
    return await fetch(`http://relay/${command}`, {
      unix: path,
      method: 'POST',
      body: JSON.stringify(input),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (ABSENT.includes(code)) return undefined
    if (code === 'EACCES')
      throw new OperatorRefusal(`${path} can be opened only by the user the relay runs as`)
    throw new OperatorRefusal(NO_ANSWER)
  }
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : undefined
}
