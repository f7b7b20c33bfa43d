// Makes images smaller in the browser, before they are uploaded.
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

/**
 * Draws an image again, in a page or a worker: smaller, upright, and without the data of cameras (place,
 * time, device). Returns a WebP for types that may be transparent, else a JPEG; a PNG if the browser cannot
 * write WebP.
 * @throws ClientError `INVALID_ARGUMENT` for an image that this browser cannot show, `UNSUPPORTED` outside of
 *   browsers
 */
export async function scaleImage(image: Blob, options: ImageOptions = {}): Promise<Blob> {
  const { maxEdge = 1600, quality = 0.85 } = options
  if (typeof createImageBitmap !== 'function' || typeof OffscreenCanvas !== 'function')
    throw new ClientError('UNSUPPORTED', 'only browsers can make images smaller')
  const bitmap = await createImageBitmap(image).catch((cause: unknown) => {
    throw new ClientError('INVALID_ARGUMENT', 'the browser cannot show this image', { cause })
  })
  try {
    const scale = Math.min(1, maxEdge / Math.max(bitmap.width, bitmap.height))
    const width = Math.max(1, Math.round(bitmap.width * scale))
    const height = Math.max(1, Math.round(bitmap.height * scale))
    const canvas = new OffscreenCanvas(width, height)
    const context = canvas.getContext('2d')
    if (!context) throw new ClientError('UNSUPPORTED', 'the browser has no canvas to draw on')
    context.imageSmoothingQuality = 'high'
    context.drawImage(bitmap, 0, 0, width, height)
    const type = WITH_ALPHA.test(image.type) ? 'image/webp' : 'image/jpeg'
    return await canvas.convertToBlob({ type, quality })
  } finally {
    bitmap.close()
  }
}
