// Makes images smaller in the browser, and describes them, before they are uploaded.
import { encodeBase64, type ImageDetails } from '@sotto/crypto'
import { ClientError } from '../client-error.ts'

/** Options of `scaleImage`. */
export interface ImageOptions {
  /** The maximum of pixels of the longer side; 1600 by default. Smaller images are not made larger. */
  readonly maxEdge?: number
  /** From 0 to 1; 0.85 by default. */
  readonly quality?: number
}

/** Types that may be transparent; they stay transparent. Animations become their first image. */
const WITH_ALPHA = /^image\/(?:png|webp|gif|avif)$/

/** The longer side of a thumbnail in pixels. Its JPEG has about 800 bytes. */
const THUMBNAIL_EDGE = 32
const MAX_EDGE = 65_535

/** Smaller images are soon there. */
const PREVIEWED_BYTES = 512 * 1024
const PREVIEW_EDGE = 640
const MAX_PREVIEW_BYTES = 256 * 1024

/**
 * Draws an image again, in a page or a worker: smaller, upright, and without the data of cameras (place,
 * time, device). Returns a WebP for types that may be transparent, else a JPEG; a PNG if the browser cannot
 * write WebP.
 * @throws ClientError `INVALID_ARGUMENT` for an image that this browser cannot show, `UNSUPPORTED` outside of
 *   browsers
 */
export async function scaleImage(image: Blob, options: ImageOptions = {}): Promise<Blob> {
  const { maxEdge = 1600, quality = 0.85 } = options
  if (!canDraw()) throw new ClientError('UNSUPPORTED', 'only browsers can make images smaller')
  const bitmap = await createImageBitmap(image).catch((cause: unknown) => {
    throw new ClientError('INVALID_ARGUMENT', 'the browser cannot show this image', { cause })
  })
  try {
    return await draw(bitmap, maxEdge, { type: typeFor(image), quality })
  } finally {
    bitmap.close()
  }
}

/**
 * What a message says of an image: its width, height and thumbnail. Empty outside of browsers, and for an
 * image that this browser cannot show: it can be sent all the same.
 */
export async function describeImage(image: Blob): Promise<ImageDetails> {
  const bitmap = canDraw() ? await createImageBitmap(image).catch(() => undefined) : undefined
  if (!bitmap) return {}
  try {
    const { width, height } = bitmap
    const small = await draw(bitmap, THUMBNAIL_EDGE, { type: 'image/jpeg', quality: 0.5 })
    const thumbnail = `data:image/jpeg;base64,${encodeBase64(new Uint8Array(await small.arrayBuffer()))}`
    return { ...(Math.max(width, height) > MAX_EDGE ? {} : { width, height }), thumbnail }
  } finally {
    bitmap.close()
  }
}

/**
 * A preview of an image of 512 KiB and more: 640 pixels on its longer side, at most 256 KiB. Undefined if the
 * image is small itself, outside of browsers, and for an image that this browser cannot show.
 */
export async function previewOf(image: Blob): Promise<Blob | undefined> {
  if (image.size < PREVIEWED_BYTES || !canDraw()) return undefined
  const bitmap = await createImageBitmap(image).catch(() => undefined)
  if (!bitmap) return undefined
  try {
    const preview = await draw(bitmap, PREVIEW_EDGE, { type: typeFor(image), quality: 0.7 })
    return preview.size <= MAX_PREVIEW_BYTES ? preview : undefined
  } finally {
    bitmap.close()
  }
}

function typeFor({ type }: Blob): string {
  return WITH_ALPHA.test(type) ? 'image/webp' : 'image/jpeg'
}

function canDraw(): boolean {
  return typeof createImageBitmap === 'function' && typeof OffscreenCanvas === 'function'
}

async function draw(bitmap: ImageBitmap, maxEdge: number, options: ImageEncodeOptions): Promise<Blob> {
  const scale = Math.min(1, maxEdge / Math.max(bitmap.width, bitmap.height))
  const width = Math.max(1, Math.round(bitmap.width * scale))
  const height = Math.max(1, Math.round(bitmap.height * scale))
  const canvas = new OffscreenCanvas(width, height)
  const context = canvas.getContext('2d')
  if (!context) throw new ClientError('UNSUPPORTED', 'the browser has no canvas to draw on')
  if (options.type === 'image/jpeg') {
    // A JPEG is not transparent. Without this, what was transparent would be black.
    context.fillStyle = '#fff'
    context.fillRect(0, 0, width, height)
  }
  context.imageSmoothingQuality = 'high'
  context.drawImage(bitmap, 0, 0, width, height)
  return await canvas.convertToBlob(options)
}
