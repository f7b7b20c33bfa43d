// Reads QR codes in pictures. Loaded when somebody scans.
import decodeQr from 'qr/decode.js'

/** Larger pictures are made smaller before they are searched. */
const MAX_SIDE = 1200
/** How long a picture is searched at most, beyond the first attempt. */
const PATIENCE_MS = 100

/**
 * The text of the QR code in a picture, or undefined if none is found.
 * @param canvas where the picture is drawn; the same one for all pictures of a camera
 */
export function readQr(
  picture: CanvasImageSource,
  size: { readonly width: number; readonly height: number },
  canvas: HTMLCanvasElement,
): string | undefined {
  const scale = Math.min(1, MAX_SIDE / Math.max(size.width, size.height))
  canvas.width = Math.max(1, Math.round(size.width * scale))
  canvas.height = Math.max(1, Math.round(size.height * scale))
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (!context) return undefined
  context.drawImage(picture, 0, 0, canvas.width, canvas.height)
  const image = context.getImageData(0, 0, canvas.width, canvas.height)
  try {
    return decodeQr(image, { timeLimit: PATIENCE_MS })
  } catch {
    // The library throws if it finds no code, or none that it can read.
    return undefined
  }
}
