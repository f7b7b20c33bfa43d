// What the wire tests of media are made of: uploads and downloads as published clients make them.
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { type Answer, call, type WireAccount, wireAccount } from './wire.ts'

/** A part of published clients: 5 MiB and what encrypting it adds. */
export const PART_BYTES = 5 * 1024 * 1024 + 32

/** Bytes like those of something encrypted. */
export function noise(bytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(randomBytes(bytes))
}

/** An upload somebody began. */
export interface Begun {
  readonly upload_id: string
  readonly media_key: string
}

/** A part as its upload answered it. */
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

  look({ upload_id }: Begun): Promise<Answer> {
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

/** The bytes of an answer. */
export async function bytesOf(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer())
}

/** Sends the head of a part's request and some of its bytes. */
export async function half(
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
  await Bun.sleep(200)
  return socket
}

/** What came back, once it did or the connection ended. */
export async function answerOf(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (data: Buffer) => {
    text += data.toString('latin1')
  })
  socket.on('error', () => undefined)
  for (const late = performance.now() + 15_000; performance.now() < late && !text.includes('}'); ) {
    if (socket.closed) break
    await Bun.sleep(20)
  }
  socket.destroy()
  return text
}
