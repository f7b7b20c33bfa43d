// The part of a picture that the viewer shows: how large, and moved by how much.

/** A view of a picture: its scale, and how far its middle is from the middle of the screen, in pixels. */
export interface View {
  readonly scale: number
  readonly x: number
  readonly y: number
}

interface Size {
  readonly width: number
  readonly height: number
}

const LARGEST = 8

/** The whole picture. */
export const WHOLE: View = { scale: 1, x: 0, y: 0 }

/** Scales by `factor`; the point, measured from the middle of the screen, stays where it is. */
export function zoomed(view: View, factor: number, point: { readonly x: number; readonly y: number }): View {
  const scale = Math.min(LARGEST, Math.max(1, view.scale * factor))
  const change = scale / view.scale
  return {
    scale,
    x: point.x - (point.x - view.x) * change,
    y: point.y - (point.y - view.y) * change,
  }
}

/** Moves a view, but no edge of the picture into the screen. */
export function moved(view: View, by: { readonly x: number; readonly y: number }, sizes: Sizes): View {
  const { fitted, screen } = sizes
  const within = (value: number, size: number, room: number): number => {
    const most = Math.max(0, (size * view.scale - room) / 2)
    return Math.min(most, Math.max(-most, value))
  }
  return {
    scale: view.scale,
    x: within(view.x + by.x, fitted.width, screen.width),
    y: within(view.y + by.y, fitted.height, screen.height),
  }
}

/** The sizes that bound a movement. */
export interface Sizes {
  /** The size of the picture at scale 1. */
  readonly fitted: Size
  readonly screen: Size
}
