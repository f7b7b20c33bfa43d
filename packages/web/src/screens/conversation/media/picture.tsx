// A picture in the conversation: its frame and a preview first, then the picture once it is in view.
import { type Signal, useSignal } from '@preact/signals'
import type { MessageContent } from '@sotto/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../../../parts/icon.tsx'
import { isTooLarge, MAX_PREVIEW_BYTES, type MediaFile } from '../../../session/media-files.ts'
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
/** The most pixels of the longer side of a preview. */
const MAX_PREVIEW_EDGE = 1280
/** So many characters of the words are said with the picture. */
const MOST_ALT = 200

interface PictureProps {
  readonly file: MediaFile
  /** A preview that is a file of its own. */
  readonly preview: MediaFile | undefined
  readonly content: Extract<MessageContent, { kind: 'image' }>
  readonly timeMs: number
  readonly isFocusable: boolean
}

export function Picture({ file, preview, content, timeMs, isFocusable }: PictureProps) {
  const state = file.state.value
  const frame = useRef<HTMLDivElement>(null)
  const raster = useRaster(file)
  const [isOpen, setOpen] = useState(false)
  const t = mediaTexts.value
  const blob = state.kind === 'ready' ? state.blob : undefined
  const smaller = useRaster(preview)

  useEffect(() => {
    if (state.kind !== 'none' || !frame.current) return
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return
      seen.disconnect()
      void loadBoth(file, preview)
    })
    seen.observe(frame.current)
    return () => seen.disconnect()
  }, [state.kind])

  const found = blob ? raster.value : undefined
  const name = `sotto-${new Date(timeMs).toISOString().slice(0, 10)}`
  if (found === 'none' && blob)
    return (
      <div class="media-stack">
        <p class="small soft">{t.noPicture}</p>
        <FileCard file={file} name={name} sizeBytes={blob.size} isFocusable={isFocusable} />
      </div>
    )
  const url = urlOf(file, raster)
  const { width, height } = frameOf(content)
  const isPreviewRefused = preview?.state.value.kind === 'failed' || isTooWide(smaller.value)
  const previewUrl = isPreviewRefused ? undefined : urlOf(preview, smaller)
  return (
    <div class="media-stack">
      <div
        ref={frame}
        class="picture"
        style={{ inlineSize: `${width}px`, aspectRatio: `${width} / ${height}` }}
      >
        {content.thumbnail && url === undefined && previewUrl === undefined && (
          <img class="picture-preview" src={content.thumbnail} alt="" />
        )}
        {previewUrl !== undefined && url === undefined && (
          <img
            class="picture-image"
            src={previewUrl}
            alt=""
            decoding="async"
            onError={() => (smaller.value = 'none')}
          />
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
            data-below={previewUrl !== undefined}
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
            {isPreviewRefused && <span class="soft">{t.noPreview}</span>}
          </button>
        )}
      </div>
      {state.kind === 'ready' && !state.isProven && <p class="small soft media-note">{t.unproven}</p>}
      {isOpen && url !== undefined && blob && (
        <Viewer
          url={url}
          alt={content.words ? `${t.picture}: ${content.words.slice(0, MOST_ALT)}` : t.picture}
          blob={blob}
          name={`${name}.${endingOf(found)}`}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  )
}

/** The preview is small, and comes first. */
async function loadBoth(file: MediaFile, preview: MediaFile | undefined): Promise<void> {
  await preview?.load(MAX_PREVIEW_BYTES)
  // It may be out of view again.
  if (file.holders > 0) await file.load(UNASKED_BYTES)
}

type RasterSignal = Signal<Raster | 'none' | undefined>

/** What a file is, once it is loaded; `none` if it is no picture that is shown. */
function useRaster(file: MediaFile | undefined): RasterSignal {
  const raster = useSignal<Raster | 'none' | undefined>(undefined)
  const state = file?.state.value
  const blob = state?.kind === 'ready' ? state.blob : undefined
  useEffect(() => {
    if (!blob) return
    rasterOfBlob(blob).then((found) => {
      raster.value = found ?? 'none'
    }, notifyError)
  }, [blob])
  return raster
}

/** The address of a file as what it is. */
function urlOf(file: MediaFile | undefined, { value: found }: RasterSignal): string | undefined {
  const isReady = file?.state.value.kind === 'ready'
  return isReady && found !== undefined && found !== 'none' ? file.url(found.type) : undefined
}

/** Whether a preview is none, or would take more memory than a preview may. */
function isTooWide(found: Raster | 'none' | undefined): boolean {
  if (found === undefined || found === 'none') return found === 'none'
  return Math.max(found.width, found.height) > MAX_PREVIEW_EDGE
}

function partOf({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number | undefined }): number {
  return totalBytes === undefined || totalBytes <= 0 ? 0 : Math.min(1, doneBytes / totalBytes)
}

function endingOf(raster: Raster | 'none' | undefined): string {
  if (raster === undefined || raster === 'none') return 'bin'
  const kind = raster.type.slice('image/'.length)
  return kind === 'jpeg' ? 'jpg' : kind
}
