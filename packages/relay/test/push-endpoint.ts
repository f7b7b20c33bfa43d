// A push service for tests. It uses real TLS, gives the answers a test chooses, and records every request.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certify } from './certificate.ts'

/** A request as it arrived. */
export interface Push {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
  /** When it arrived, in monotonic milliseconds. */
  readonly at: number
}

/** Answers a request. If it does nothing, the request hangs. */
export type Answering = (response: ServerResponse, request: IncomingMessage, push: Push) => void

/** Answers with this status and no body. */
export function answer(status: number, headers: Record<string, string> = {}): Answering {
  return (response) => response.writeHead(status, headers).end()
}

/** A running push service. */
export interface PushEndpoint {
  readonly port: number
  /** The certificate authority of its certificate, PEM. */
  readonly authority: string
  /** The path of a file with the authority. */
  readonly authorityFile: string
  /** All requests received, oldest first. */
  readonly pushes: readonly Push[]
  /** The URL of an endpoint at this path; `host` is `localhost`, `127.0.0.1` or `push.test`. */
  url(path: string, host?: string): string
  /** Sets the answer at a path from now on; the default is 201. */
  on(path: string, answering: Answering): void
  /** The requests received at a path. */
  at(path: string): Push[]
  /** Waits until this many requests have arrived at a path. */
  until(path: string, count?: number, withinMs?: number): Promise<Push[]>
  stop(): Promise<void>
}

/** Starts a push service. */
export async function startPushEndpoint(): Promise<PushEndpoint> {
  const { key, cert, authority } = certify(['localhost', 'push.test', '127.0.0.1'])
  const folder = await mkdtemp(join(tmpdir(), 'sotto-push-'))
  const authorityFile = join(folder, 'authority.pem')
  await writeFile(authorityFile, authority)
  const pushes: Push[] = []
  const answers = new Map<string, Answering>()
  const server = createServer({ key, cert }, (request, response) => {
    const pieces: Uint8Array[] = []
    request.on('data', (piece: Uint8Array) => pieces.push(piece))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const push = { method, path, headers, body: Buffer.concat(pieces), at: performance.now() }
      pushes.push(push)
      const answering = answers.get(path) ?? answer(201, { location: 'https://push.test/m/1' })
      answering(response, request, push)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const at = (path: string): Push[] => pushes.filter((push) => push.path === path)
  return {
    ...{ port, authority, authorityFile, pushes, at },
    url: (path, host = 'localhost') => `https://${host}:${port}${path}`,
    on: (path, answering) => answers.set(path, answering),
    until: async (path, count = 1, withinMs = 45_000) => {
      for (const late = performance.now() + withinMs; at(path).length < count; await Bun.sleep(10)) {
        if (performance.now() > late)
          throw new Error(
            `${at(path).length} of ${count} requests arrived at ${path}; all: ${pushes.map((p) => p.path)}`,
          )
      }
      return at(path)
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
