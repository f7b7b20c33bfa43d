// The admin page of a relay under test: how a browser enters it, and what an attacker sends.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tellRelay } from '../src/operator.ts'
import { rawHttp, requestOf } from './raw.ts'

/** Makes a folder with the least that is an admin page. */
export async function writeAdminPage(folder: string): Promise<string> {
  await mkdir(join(folder, 'assets'), { recursive: true })
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>Admin</title>')
  await writeFile(join(folder, 'assets/main-a1b2.js'), 'export {}')
  return folder
}

/** What somebody sends, besides the right host, origin and session. */
interface Sent {
  readonly method?: string
  readonly body?: string
  /** Undefined for none. */
  readonly session?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** The page of a relay, as one browser sees it. */
export class AdminDoor {
  readonly #environment: Record<string, string>
  /** `http://127.0.0.1:<port>`, after {@link opens}. */
  url = ''
  /** The secret of the session. */
  session: string | undefined

  /** @param environment the settings of the relay */
  constructor(environment: Record<string, string>) {
    this.#environment = environment
  }

  /** Asks for a link as `sotto admin` does. @returns its secret */
  async opens(input: { port?: number; who?: string } = {}): Promise<string> {
    const { url } = await tellRelay(this.#environment, 'admin.open', { who: 'ada', ...input })
    const [base = '', secret = ''] = url.split('/#/open/')
    this.url = base
    return secret
  }

  closes(): Promise<{ was_open: boolean }> {
    return tellRelay(this.#environment, 'admin.close', {})
  }

  /** Opens the page, and begins a session. */
  async enters(who?: string): Promise<void> {
    const secret = await this.opens(who === undefined ? {} : { who })
    const { body } = await this.sends('/session', { body: JSON.stringify({ secret }), session: undefined })
    this.session = JSON.parse(body).session
  }

  /** Sends a request byte by byte, because no client lets its caller choose the host. */
  async sends(path: string, { method = 'POST', body = '', headers = {}, ...sent }: Sent = {}) {
    const { host, origin } = new URL(this.url)
    const session = 'session' in sent ? sent.session : this.session
    const all = {
      host,
      ...(method === 'POST' ? { origin } : {}),
      ...(session === undefined ? {} : { authorization: `Bearer ${session}` }),
      ...(body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    }
    return await rawHttp(this.url, requestOf(`${method} ${path}`, all) + body)
  }
}
