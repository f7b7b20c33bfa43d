// A real HTTP server on the loopback, acting somebody else's documented interface.
import { randomPort } from './free-port.ts'

/** What it was asked. */
export interface Asked {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: Headers
  readonly body: string
}

export interface LocalHttp extends Disposable {
  readonly url: string
  readonly asked: Asked[]
}

/** Serves on a port below 32768, where no system takes the port of an outgoing connection from. */
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
      // Taken; the next one.
    }
  }
  throw new Error('no free port')
}
