// Images made smaller in the browser, before they leave the device.
import { ClientError } from '../client-error.ts'

/** How an image is made smaller. */
export interface ImageOptions {
  /** Its longer side is at most this many pixels; 1600 unless told. Smaller images are not made larger. */
  readonly maxEdge?: number
  /** From 0 to 1; 0.85 unless told. */
  readonly quality?: number
}

/** What may be see-through, and stays so. Animations become their first image. */
const WITH_ALPHA = /^image\/(?:png|webp|gif|avif)$/

/**
 * An image drawn anew, in pages and workers: smaller, upright, and without what cameras write into it (where, when, with
 * what). A WebP for what may be see-through, else a JPEG; a PNG where the browser writes no WebP.
 * @throws ClientError `INVALID_ARGUMENT` for what this browser cannot show, `UNSUPPORTED` outside of browsers
 */
export async function scaleImage(image: Blob, options: ImageOptions = {}): Promise<Blob> {
  const { maxEdge = 1600, quality = 0.85 } = options
  if (typeof createImageBitmap !== 'function' || typeof OffscreenCanvas !== 'function')
    throw new ClientError('UNSUPPORTED', 'images are made smaller by browsers only')
  const bitmap = await createImageBitmap(image).catch((cause: unknown) => {
    throw new ClientError('INVALID_ARGUMENT', 'this is no image the browser can show', { cause })
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
