// Which pictures are shown: PNG, JPEG, GIF, WebP and AVIF, recognised by their bytes, with dimensions within
// a bound. The dimensions are read before a browser decodes anything, because a small file can promise an
// image of gigabytes. Everything else, SVG too, is only a file.

/** The most pixels of a picture. Decoded, they take 256 MB. */
const MAX_PIXELS = 64_000_000
/** The most pixels of one side. */
const MAX_EDGE = 20_000
/** Dimensions are looked for in so many bytes from the beginning: long metadata may come before them. */
const HEAD_BYTES = 1024 * 1024

/** A picture that can be shown. */
export interface Raster {
  readonly type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif'
  readonly width: number
  readonly height: number
}

/** What a file is. Undefined if it is no picture that is shown. @throws DOMException if it cannot be read */
export async function rasterOfBlob(blob: Blob): Promise<Raster | undefined> {
  return rasterOf(new Uint8Array(await blob.slice(0, HEAD_BYTES).arrayBuffer()))
}

/** The same from the first bytes of a file. */
export function rasterOf(bytes: Uint8Array): Raster | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  try {
    const found = png(view) ?? jpeg(view) ?? gif(view) ?? webp(view) ?? avif(view)
    return found && isWithin(found) ? found : undefined
  } catch (error) {
    // The file ends before its dimensions.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function isWithin({ width, height }: Raster): boolean {
  return width > 0 && height > 0 && Math.max(width, height) <= MAX_EDGE && width * height <= MAX_PIXELS
}

function textAt(view: DataView, at: number, length: number): string {
  if (at + length > view.byteLength) return ''
  return String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at, length))
}

/** PNG (W3C, 5.2 and 11.2.1): the signature, then the header chunk. */
function png(view: DataView): Raster | undefined {
  if (textAt(view, 0, 8) !== '\x89PNG\r\n\x1a\n' || textAt(view, 12, 4) !== 'IHDR') return undefined
  return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) }
}

/** JPEG (ITU-T T.81, B.1.1.2 and B.2.2): segments with a length, up to the frame header. */
function jpeg(view: DataView): Raster | undefined {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return undefined
  for (let at = 2; at + 9 <= view.byteLength; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint16(at)
    // Baseline, extended and progressive frames.
    if (marker >= 0xffc0 && marker <= 0xffc2)
      return { type: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    // Tables, restart interval, application data and comments.
    const hasLength = marker === 0xffc4 || marker === 0xffdb || marker === 0xffdd || marker === 0xfffe
    if (!hasLength && (marker < 0xffe0 || marker > 0xffef)) return undefined
  }
  return undefined
}

/** GIF: the logical screen, and the first image, because a browser makes the screen as large as that. */
function gif(view: DataView): Raster | undefined {
  if (!/^GIF8[79]a$/.test(textAt(view, 0, 6))) return undefined
  let width = view.getUint16(6, true)
  let height = view.getUint16(8, true)
  let at = 13 + coloursOf(view.getUint8(10))
  while (view.getUint8(at) === 0x21) {
    // An extension: its label, then blocks with their lengths, ended by an empty one.
    at += 2
    while (view.getUint8(at) > 0) at += 1 + view.getUint8(at)
    at += 1
  }
  if (view.getUint8(at) !== 0x2c) return undefined
  width = Math.max(width, view.getUint16(at + 1, true) + view.getUint16(at + 5, true))
  height = Math.max(height, view.getUint16(at + 3, true) + view.getUint16(at + 7, true))
  return { type: 'image/gif', width, height }
}

/** The bytes of a GIF's table of colours. */
function coloursOf(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0
}

/** WebP (RFC 9649): lossy, lossless, or with a header for more. */
function webp(view: DataView): Raster | undefined {
  if (textAt(view, 0, 4) !== 'RIFF' || textAt(view, 8, 4) !== 'WEBP') return undefined
  const type = 'image/webp'
  switch (textAt(view, 12, 4)) {
    case 'VP8 ':
      return { type, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
    case 'VP8L': {
      const bits = view.getUint32(21, true)
      return { type, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { type, width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 }
    default:
      return undefined
  }
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
}

/** AVIF: boxes of ISO/IEC 14496-12. Each image in it has its extents (`ispe`); the largest ones count. */
function avif(view: DataView): Raster | undefined {
  if (textAt(view, 4, 4) !== 'ftyp') return undefined
  if (!/avi[fs]/.test(textAt(view, 8, Math.min(view.getUint32(0), 256) - 8))) return undefined
  let width = 0
  let height = 0
  const look = (from: number, to: number, depth: number): void => {
    for (let at = from; at + 8 <= to; ) {
      const size = view.getUint32(at)
      const end = size === 0 ? to : Math.min(at + size, to)
      if (end < at + 8) return
      const name = textAt(view, at + 4, 4)
      if (name === AVIF_PATH[depth]) look(at + (name === 'meta' ? 12 : 8), end, depth + 1)
      if (depth === AVIF_PATH.length && name === 'ispe') {
        width = Math.max(width, view.getUint32(at + 12))
        height = Math.max(height, view.getUint32(at + 16))
      }
      at = end
    }
  }
  look(0, view.byteLength, 0)
  return { type: 'image/avif', width, height }
}

/** The boxes around the properties of images, each within the one before. */
const AVIF_PATH = ['meta', 'iprp', 'ipco']
