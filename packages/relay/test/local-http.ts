// A real HTTP server on the loopback that implements another service's documented interface.
import { randomPort } from './free-port.ts'

/** A request it received. */
export interface Asked {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  readonly headers: Headers
  readonly body: string
}

export interface LocalHttp extends Disposable {
  readonly url: string
  readonly asked: Asked[]
}

/** Serves on a port below 32768, where no system takes ports for outgoing connections. */
export function serveLocally(answer: (asked: Asked) => Response | Promise<Response>): LocalHttp {
  const asked: Asked[] = []
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url)
    const one = {
      method: request.method,
      path: `${pathname}${search}`,
      headers: request.headers,
      body: await request.text(),
    }
    asked.push(one)
    return answer(one)
  }
  for (let tries = 0; tries < 100; tries++) {
    const port = randomPort()
    try {
      const server = Bun.serve({ hostname: '127.0.0.1', port, fetch })
      return { url: `http://127.0.0.1:${port}`, asked, [Symbol.dispose]: () => void server.stop(true) }
    } catch {
      // The port is taken: tries another.
    }
  }
  throw new Error('no free port')
}
