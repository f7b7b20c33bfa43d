// One picture on the whole screen: larger and smaller by buttons, keys, wheel and fingers.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { IconButton } from '../../../parts/button.tsx'
import { mediaTexts } from '../../../texts/media.ts'
import { texts } from '../../../texts/texts.ts'
import { save } from './save.ts'
import { moved, type View, WHOLE, zoomed } from './zoom.ts'

const STEP = 1.4
/** How far an arrow key moves, in pixels. */
const MOVE_PX = 80
const MIDDLE = { x: 0, y: 0 }

const ARROWS: Readonly<Record<string, { readonly x: number; readonly y: number }>> = {
  ArrowLeft: { x: MOVE_PX, y: 0 },
  ArrowRight: { x: -MOVE_PX, y: 0 },
  ArrowUp: { x: 0, y: MOVE_PX },
  ArrowDown: { x: 0, y: -MOVE_PX },
}

interface ViewerProps {
  readonly url: string
  /** What the picture is, in words. */
  readonly alt: string
  readonly blob: Blob
  readonly name: string
  readonly onClose: () => void
}

export function Viewer({ url, alt, blob, name, onClose }: ViewerProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const image = useRef<HTMLImageElement>(null)
  const fingers = useRef(new Map<number, PointerEvent>())
  const [view, setView] = useState<View>(WHOLE)
  const t = mediaTexts.value
  useLayoutEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal()
  }, [])

  const move = (of: View, by: { readonly x: number; readonly y: number }): View => {
    const { offsetWidth = 0, offsetHeight = 0 } = image.current ?? {}
    const fitted = { width: offsetWidth, height: offsetHeight }
    return moved(of, by, { fitted, screen: { width: innerWidth, height: innerHeight } })
  }
  const zoom = (factor: number, at = MIDDLE): void =>
    setView((before) => move(zoomed(before, factor, at), MIDDLE))
  const pointOf = ({ clientX, clientY }: MouseEvent): { x: number; y: number } => ({
    x: clientX - innerWidth / 2,
    y: clientY - innerHeight / 2,
  })
  const onMove = (event: PointerEvent): void => {
    const before = fingers.current.get(event.pointerId)
    if (!before) return
    const [other] = [...fingers.current.values()].filter((each) => each.pointerId !== event.pointerId)
    fingers.current.set(event.pointerId, event)
    const by = { x: event.clientX - before.clientX, y: event.clientY - before.clientY }
    if (!other) return setView((of) => move(of, by))
    const distance = (from: PointerEvent): number =>
      Math.max(1, Math.hypot(from.clientX - other.clientX, from.clientY - other.clientY))
    zoom(distance(event) / distance(before), pointOf(other))
  }
  const onKey = (event: KeyboardEvent): void => {
    // The list of messages has other uses for these keys.
    event.stopPropagation()
    const arrow = ARROWS[event.key]
    if (arrow) setView((of) => move(of, arrow))
    else if (event.key === '+' || event.key === '=') zoom(STEP)
    else if (event.key === '-') zoom(1 / STEP)
    else if (event.key === '0') setView(WHOLE)
    else return
    event.preventDefault()
  }
  return (
    <dialog
      ref={dialog}
      class="viewer"
      aria-label={t.viewer}
      onClose={onClose}
      onKeyDown={onKey}
      onClick={(event) => event.stopPropagation()}
      onWheel={(event) => {
        event.preventDefault()
        zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, pointOf(event))
      }}
      onDblClick={(event) => {
        if (isOnButton(event)) return
        if (view.scale > 1) setView(WHOLE)
        else zoom(2.5, pointOf(event))
      }}
      onPointerDown={(event) => {
        if (isOnButton(event)) return
        event.currentTarget.setPointerCapture(event.pointerId)
        fingers.current.set(event.pointerId, event)
      }}
      onPointerMove={onMove}
      onPointerUp={({ pointerId }) => fingers.current.delete(pointerId)}
      onPointerCancel={({ pointerId }) => fingers.current.delete(pointerId)}
    >
      <div class="viewer-stage" data-zoomed={view.scale > 1}>
        <img
          ref={image}
          class="viewer-image"
          src={url}
          alt={alt}
          draggable={false}
          style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` }}
        />
      </div>
      <div class="viewer-bar">
        <IconButton icon="zoomOut" label={t.zoomOut} onClick={() => zoom(1 / STEP)} />
        <IconButton icon="zoomIn" label={t.zoomIn} onClick={() => zoom(STEP)} />
        <IconButton icon="download" label={t.save} onClick={() => save(blob, name)} />
        <IconButton icon="close" label={texts.value.common.close} onClick={() => dialog.current?.close()} />
      </div>
    </dialog>
  )
}

function isOnButton({ target }: Event): boolean {
  return target instanceof Element && target.closest('button') !== null
}
