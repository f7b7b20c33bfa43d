// What the wire tests of media are made of: uploads and downloads as published clients make them.
import { randomBytes } from 'node:crypto'
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
