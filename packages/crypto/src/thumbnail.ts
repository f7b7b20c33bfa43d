// The small preview inside an image message: a JPEG as a data URL. It comes from other people, so its size
// and dimensions are bounded.
import { decodeBase64 } from './base64.ts'

/** The most bytes of a thumbnail's JPEG. */
export const MAX_THUMBNAIL_BYTES = 16_384
/** The most pixels of a thumbnail's width and height. */
const MAX_THUMBNAIL_EDGE = 320

const PREFIX = 'data:image/jpeg;base64,'

/**
 * The data URL of a thumbnail: a JPEG of at most `MAX_THUMBNAIL_BYTES` and `MAX_THUMBNAIL_EDGE`. Undefined
 * for everything else. Some clients send the Base64 alone.
 */
export function thumbnailOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_THUMBNAIL_BYTES * 1.4) return undefined
  const base64 = value.startsWith(PREFIX) ? value.slice(PREFIX.length) : value
  try {
    return isSmallJpeg(decodeBase64(base64)) ? PREFIX + base64 : undefined
  } catch {
    // Not Base64.
    return undefined
  }
}

/**
 * Whether a JPEG (ITU-T T.81, B.1.1.2 and B.2.2) says small dimensions. A few bytes can promise an image of
 * gigabytes. Before the frame header only segments with a length are accepted, so that every decoder finds
 * the same frame header.
 */
export function isSmallJpeg(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (bytes.length > MAX_THUMBNAIL_BYTES || bytes.length < 4 || view.getUint16(0) !== 0xffd8) return false
  for (let at = 2; at + 9 <= bytes.length; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint16(at)
    // Baseline, extended and progressive frames.
    if (marker >= 0xffc0 && marker <= 0xffc2)
      return isEdge(view.getUint16(at + 5)) && isEdge(view.getUint16(at + 7))
    // Tables, restart interval, application data and comments.
    const hasLength = marker === 0xffc4 || marker === 0xffdb || marker === 0xffdd || marker === 0xfffe
    if (!hasLength && (marker < 0xffe0 || marker > 0xffef)) return false
  }
  return false
}

function isEdge(pixels: number): boolean {
  return pixels > 0 && pixels <= MAX_THUMBNAIL_EDGE
}
