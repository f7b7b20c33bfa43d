// How large a picture is in the conversation, before it is there: nothing moves when it comes.

/** The widest and highest frame, in pixels. */
const WIDEST = 320
const HIGHEST = 360
/** The smallest side, in pixels: a finger must hit it. */
const SMALLEST = 96
/** The frame of a picture whose message does not say its dimensions. */
const UNKNOWN = { width: 240, height: 180 }

/** What a message says of a picture. */
export interface Dimensions {
  readonly width?: number | undefined
  readonly height?: number | undefined
}

/** The frame of a picture, in pixels. A very long or high one is cut in it, and whole in the viewer. */
export function frameOf({ width, height }: Dimensions): { readonly width: number; readonly height: number } {
  if (width === undefined || height === undefined || width <= 0 || height <= 0) return UNKNOWN
  const scale = Math.min(1, WIDEST / width, HIGHEST / height)
  const within = (edge: number, most: number): number =>
    Math.round(Math.min(most, Math.max(SMALLEST, edge * scale)))
  return { width: within(width, WIDEST), height: within(height, HIGHEST) }
}
