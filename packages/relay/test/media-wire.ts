// Helpers for the wire tests of media: uploads and downloads as published clients make them.
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { type Answer, call, type WireAccount, wireAccount } from './wire.ts'

/** The part size of published clients: 5 MiB plus the overhead of encryption. */
export const PART_BYTES = 5 * 1024 * 1024 + 32

/** Random bytes, like encrypted data. */
export function noise(bytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(randomBytes(bytes))
}

/** An open upload. */
export interface Begun {
  readonly upload_id: string
  readonly media_key: string
}

/** A part as the relay's answer describes it. */
export interface WirePart {
  readonly etag: string
  readonly part_number: number
}

/** An account that uploads and downloads. */
export class MediaAccount {
  readonly account: WireAccount

  private constructor(account: WireAccount) {
    this.account = account
  }

  static async make(relayUrl: string): Promise<MediaAccount> {
    return new MediaAccount(await wireAccount(relayUrl))
  }

  async begin(): Promise<Begun> {
    return (await this.account.post('/media/upload-parts/init', { content_type: 'image/jpeg' })).body
  }

  put(
    { upload_id, media_key }: Begun,
    number: number | string,
    body: BodyInit,
    init: RequestInit = {},
  ): Promise<Answer> {
    const query = `mediaKey=${encodeURIComponent(media_key)}&partNumber=${number}`
    return call(this.account.api(`/media/upload-parts/${upload_id}/chunk?${query}`), {
      method: 'POST',
      headers: { ...this.account.authorized(), 'content-type': 'application/octet-stream' },
      body,
      ...init,
    })
  }

  /** Uploads parts one after the other. */
  async putAll(upload: Begun, parts: readonly Uint8Array<ArrayBuffer>[]): Promise<WirePart[]> {
    const done: WirePart[] = []
    for (const [i, part] of parts.entries()) {
      const { etag } = (await this.put(upload, i + 1, part)).body
      done.push({ etag, part_number: i + 1 })
    }
    return done
  }

  complete({ upload_id, media_key }: Begun, parts: readonly WirePart[]): Promise<Answer> {
    return this.account.post(`/media/upload-parts/${upload_id}/complete`, { media_key, parts })
  }

  listParts({ upload_id }: Begun): Promise<Answer> {
    return this.account.get(`/media/upload-parts/${upload_id}`)
  }

  abort({ upload_id }: Begun): Promise<Answer> {
    return this.account.bare('DELETE', `/media/upload-parts/${upload_id}`)
  }

  /** Uploads a blob in parts. @returns its key */
  async upload(...parts: readonly Uint8Array<ArrayBuffer>[]): Promise<string> {
    const upload = await this.begin()
    const { status, text } = await this.complete(upload, await this.putAll(upload, parts))
    if (status !== 200) throw new Error(`the upload was not completed: ${text}`)
    return upload.media_key
  }

  download(key: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
    return fetch(this.account.api(`/media/download?key=${encodeURIComponent(key)}`), {
      method,
      headers: { ...this.account.authorized(), ...headers },
      redirect: 'manual',
    })
  }

  async usedBytes(): Promise<number> {
    return (await this.account.get('/storage/estimate')).body.used_bytes
  }
}

/** The bytes of a response. */
export async function bytesOf(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer())
}

/** Sends the head of a part's request and some of its bytes. */
export async function sendHalfPart(
  { account }: MediaAccount,
  upload: { upload_id: string; media_key: string },
  number: number,
): Promise<Socket> {
  const socket = connect(Number(new URL(account.base).port), '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  const path = `/api/v1/media/upload-parts/${upload.upload_id}/chunk?mediaKey=${upload.media_key}&partNumber=${number}`
  const head = [`POST ${path} HTTP/1.1`, 'host: relay', `authorization: Bearer ${account.token}`]
  socket.write(`${[...head, 'content-length: 2000000'].join('\r\n')}\r\n\r\n`)
  socket.write(noise(100_000))
  return socket
}

/** The answer, once it has arrived or the connection has ended. */
export async function answerOf(socket: Socket): Promise<string> {
  let text = ''
  await new Promise<void>((resolve) => {
    socket.on('data', (data: Buffer) => {
      text += data.toString('latin1')
      if (text.includes('}')) resolve()
    })
    socket.on('error', () => undefined) // A close follows.
    socket.once('close', () => resolve())
  })
  socket.destroy()
  return text
}
