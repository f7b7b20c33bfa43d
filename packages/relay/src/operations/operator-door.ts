// The operator's door: a Unix socket in the data folder that only the relay's own user (and root) can open. Commands go in, and
// nothing else is served there; the port that clients use does not lead to it.
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ProtocolError } from '@sotto/protocol'
import type { Server } from 'bun'
import * as v from 'valibot'
import { readJsonBody } from '../listener/body.ts'
import { version } from '../version.ts'
import type { Log } from './log.ts'
import { type OperatorCommand, OperatorRefusal } from './operator-command.ts'

const MOST_BODY_BYTES = 64 * 1024
/** How long a connection may be silent, which it is while a command runs. The client waits for less. */
const IDLE_SECONDS = 60
const PATIENCE_MS = 30_000

/** Where the door of a relay with this data folder is. */
export function operatorDoorOf(dataDir: string): string {
  return join(dataDir, 'operator.sock')
}

/**
 * Opens the door: `POST /<command>` with a JSON object is answered with `{"version", "answer"}`, or with
 * `{"version", "error"}` where it is refused (422), unknown (404), not understood (400, 413) or failed (500).
 *
 * A socket that nobody listens on, left by a relay that was killed, is replaced; one that answers is not. A relay that cannot
 * have a door does without: that is a warning in its log.
 */
export async function startOperatorDoor(parts: {
  path: string
  commands: Readonly<Record<string, OperatorCommand>>
  log: Log
}): Promise<{
  /** Takes no more commands, and resolves once those under way are answered. */
  stop(): Promise<void>
}> {
  try {
    const server = await listen(parts.path, parts)
    return { stop: () => server.stop(false) }
  } catch (error) {
    const code = codeOf(error)
    if (code === undefined) throw error
    const reason = reasons[code] ?? `${parts.path} cannot be made (${code})`
    parts.log.warn('operator_door_missing', { setting: 'DATA_DIR', reason })
    return { stop: async () => undefined }
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something else has operator.sock in that folder',
  ENAMETOOLONG: 'the path of that folder is too long for a socket in it',
}

interface DoorParts {
  readonly commands: Readonly<Record<string, OperatorCommand>>
  readonly log: Log
}

async function listen(path: string, parts: DoorParts) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 }) // With PostgreSQL nobody else may have needed it.
  try {
    return listenAt(path, parts)
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE' || !(await isDead(path))) throw error
    rmSync(path, { force: true })
    return listenAt(path, parts)
  }
}

function listenAt(path: string, { commands, log }: DoorParts) {
  const answers = Object.entries(commands).map(([name, command]) => {
    const answer = (request: Request, server: Server<undefined>): Promise<Response> => {
      server.timeout(request, IDLE_SECONDS)
      return answerTo(request, name, command, log)
    }
    return [`/${name}`, { POST: answer }] as const
  })
  const umask = process.umask(0o177) // The socket is made with it: there is no moment at which others may open it.
  try {
    const server = Bun.serve({
      unix: path,
      maxRequestBodySize: MOST_BODY_BYTES,
      development: false,
      routes: Object.fromEntries(answers),
      fetch: () => answerOf(404, { error: 'there is no such command' }),
    })
    try {
      chmodSync(path, 0o600) // Where a folder has a default ACL, the umask counts for nothing.
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
    return answerOf(200, { answer: answer ?? null })
  } catch (error) {
    if (error instanceof OperatorRefusal) return answerOf(422, { error: error.message })
    if (error instanceof ProtocolError && error.code === 'PAYLOAD_TOO_LARGE')
      return answerOf(413, { error: `a command has at most ${MOST_BODY_BYTES} bytes` })
    if (error instanceof ProtocolError && error.code === 'INVALID_JSON')
      return answerOf(400, { error: 'a command comes with a JSON object' })
    log.error('operator_command_failed', { endpoint: name, error })
    return answerOf(500, { error: 'the relay failed to do it; its log says why' })
  }
}

function answerOf(status: number, body: { answer: unknown } | { error: string }): Response {
  return Response.json({ version, ...body }, { status, headers: { connection: 'close' } })
}

// Left behind by a process that was killed. Of two relays that find the same one at once the second to listen has the door,
// which is as good: the store is the same.
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
 * Gives a command to the relay behind a door.
 * @returns what it answered; undefined where no relay listens, so that the command reached nobody
 * @throws OperatorRefusal where it refused or failed, or is not to be reached by this user
 */
export async function knock(
  path: string,
  command: string,
  input: object,
): Promise<{ readonly answer: unknown } | undefined> {
  const response = await send(path, command, input)
  if (!response) return undefined
  const said = v.safeParse(Answer, await response.json().catch(() => undefined))
  if (said.success && 'answer' in said.output) return { answer: said.output.answer }
  if (said.success && response.status === 404) {
    throw new OperatorRefusal(
      `the relay that runs is version ${said.output.version} and does not know ${command}; this is ${version}`,
    )
  }
  throw new OperatorRefusal(said.success && 'error' in said.output ? said.output.error : NO_ANSWER)
}

const NO_ANSWER = 'the relay took the command and did not answer; look whether it was done'
/** Nobody listens there, or nobody can. */
const ABSENT = ['ENOENT', 'ENOTDIR', 'ECONNREFUSED', 'ENAMETOOLONG']

async function send(path: string, command: string, input: object): Promise<Response | undefined> {
  try {
    return await fetch(`http://relay/${command}`, {
      unix: path,
      method: 'POST',
      body: JSON.stringify(input),
      signal: AbortSignal.timeout(PATIENCE_MS),
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
