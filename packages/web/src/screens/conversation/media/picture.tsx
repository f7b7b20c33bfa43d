// A picture in the conversation: its frame and a blurred preview first, then the picture once it is in view.
import { useSignal } from '@preact/signals'
import type { MessageContent } from '@sotto/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../../../parts/icon.tsx'
import { isTooLarge, type MediaFile } from '../../../session/media-files.ts'
import { notifyError } from '../../../session/notices.ts'
import { sizeOf } from '../../../texts/dates.ts'
import { explainMedia } from '../../../texts/explain-media.ts'
import { mediaTexts } from '../../../texts/media.ts'
import { FileCard } from './file-card.tsx'
import { frameOf } from './frame.ts'
import { Progress } from './progress.tsx'
import { type Raster, rasterOfBlob } from './raster.ts'
import { Viewer } from './viewer.tsx'

/** Pictures up to this size are loaded when they come into view; larger ones when they are asked for. */
const UNASKED_BYTES = 10 * 1024 * 1024

interface PictureProps {
  readonly file: MediaFile
  readonly content: Extract<MessageContent, { kind: 'image' }>
  readonly timeMs: number
  readonly isFocusable: boolean
}

export function Picture({ file, content, timeMs, isFocusable }: PictureProps) {
  const state = file.state.value
  const frame = useRef<HTMLDivElement>(null)
  const raster = useSignal<Raster | 'none' | undefined>(undefined)
  const [isOpen, setOpen] = useState(false)
  const t = mediaTexts.value
  const blob = state.kind === 'ready' ? state.blob : undefined

  useEffect(() => {
    if (state.kind !== 'none' || !frame.current) return
    const seen = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) void file.load(UNASKED_BYTES)
    })
    seen.observe(frame.current)
    return () => seen.disconnect()
  }, [state.kind])
  useEffect(() => {
    if (!blob) return
    rasterOfBlob(blob).then((found) => {
      raster.value = found ?? 'none'
    }, notifyError)
  }, [blob])

  const found = blob ? raster.value : undefined
  const name = `sotto-${new Date(timeMs).toISOString().slice(0, 10)}`
  if (found === 'none' && blob)
    return (
      <div class="media-stack">
        <p class="small soft">{t.noPicture}</p>
        <FileCard file={file} name={name} sizeBytes={blob.size} isFocusable={isFocusable} />
      </div>
    )
  const url = found === undefined || found === 'none' ? undefined : file.url(found.type)
  const { width, height } = frameOf(content)
  return (
    <div class="media-stack">
      <div
        ref={frame}
        class="picture"
        style={{ inlineSize: `${width}px`, aspectRatio: `${width} / ${height}` }}
      >
        {content.thumbnail && url === undefined && (
          <img class="picture-preview" src={content.thumbnail} alt="" />
        )}
        {url !== undefined && (
          <button
            type="button"
            class="picture-open"
            tabIndex={isFocusable ? 0 : -1}
            aria-label={t.openPicture}
            onClick={() => setOpen(true)}
          >
            <img
              class="picture-image"
              src={url}
              alt=""
              decoding="async"
              onError={() => (raster.value = 'none')}
            />
          </button>
        )}
        {state.kind === 'loading' && <Progress part={partOf(state)} />}
        {state.kind === 'failed' && (
          <button
            type="button"
            class="picture-again"
            tabIndex={isFocusable ? 0 : -1}
            onClick={() => void file.load()}
          >
            <Icon name={isTooLarge(state.error) ? 'download' : 'retract'} />
            <span>
              {!isTooLarge(state.error)
                ? explainMedia(state.error)
                : content.sizeBytes === undefined
                  ? t.loadAny
                  : t.load(sizeOf(content.sizeBytes))}
            </span>
          </button>
        )}
      </div>
      {state.kind === 'ready' && !state.isProven && <p class="small soft media-note">{t.unproven}</p>}
      {isOpen && url !== undefined && blob && (
        <Viewer
          url={url}
          alt={content.words ?? t.picture}
          blob={blob}
          name={`${name}.${endingOf(found)}`}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  )
}

function partOf({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number | undefined }): number {
  return totalBytes === undefined || totalBytes <= 0 ? 0 : Math.min(1, doneBytes / totalBytes)
}

function endingOf(raster: Raster | 'none' | undefined): string {
  if (raster === undefined || raster === 'none') return 'bin'
  const kind = raster.type.slice('image/'.length)
  return kind === 'jpeg' ? 'jpg' : kind
}
